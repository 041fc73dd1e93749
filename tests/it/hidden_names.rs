//! A line shows no file by a name that hides in it: in a program's own language, behind an option, a link, a second name or a
//! folder. And of a file that it names openly, no secret, in whatever way it prints it. With the real binary and its walls.

use std::os::unix::fs::{PermissionsExt, symlink};

use countersign_core::testkit::Chance;

use crate::support::bot::{Bot, Home};

/// What nobody may see, from files that are secret by their name or that only their owner may read.
struct Hidden {
    home: Home,
    words: Vec<(&'static str, String)>,
}

impl Hidden {
    /// A folder of an application: plain files, a key, a file of variables, a link to the key, a second name of a file that is
    /// its owner's alone.
    fn new(secret: &str) -> Self {
        let home = Home::new();
        for folder in ["app", "app/.ssh", "empty", "vault"] {
            std::fs::create_dir(home.path().join(folder)).expect("a folder can be made");
        }
        home.write("app/plain.txt", "nothing to hide\n");
        home.write("app/.ssh/id_rsa", format!("{secret}\n"));
        home.write("app/.env", format!("GREETING={secret}\n"));
        let own = home.write("vault/own", format!("{secret}\n"));
        std::fs::set_permissions(&own, PermissionsExt::from_mode(0o600)).expect("it is ours");
        let at = |name: &str| home.path().canonicalize().expect("it is there").join(name);
        symlink(at("app/.ssh/id_rsa"), at("app/link")).expect("a link can be made");
        symlink(at("app/plain.txt"), at("app/plain-link")).expect("a link can be made");
        std::fs::hard_link(&own, at("app/second")).expect("a second name can be given");
        home.write("vault/own.json", format!("{{\"a\": \"{secret}\"}}\n"));
        symlink(at("app/.env"), at("app/data.json")).expect("a link can be made");
        let words = [("APP", "app"), ("EMPTY", "empty"), ("LINK", "app/link"), ("SECOND", "app/second")];
        let words = words.map(|(word, name)| (word, at(name).display().to_string()));
        Self { words: words.into(), home }
    }

    fn line(&self, template: &str) -> String {
        self.words.iter().fold(template.to_owned(), |line, (word, path)| line.replace(word, path))
    }
}

/// Each showed a secret to whoever may read before a program's reads were held to what its words name.
const LINES: [&str; 49] = [
    "diff -N EMPTY APP",
    "diff -rN EMPTY APP",
    "diff -r APP EMPTY",
    "grep -rh . APP",
    "rgrep -h . APP",
    "git -C APP grep --no-index -h .",
    "git grep --no-index -h . APP",
    "git -C APP diff --no-index EMPTY APP",
    "git diff --no-index EMPTY APP",
    "find APP -type f -exec cat {} +",
    "find APP -type f -exec dd if={} ;",
    "find APP -type f -exec file -f {} ;",
    "find APP -type f -exec date -f {} ;",
    "find APP -type f -exec git config -f {} -l ;",
    "find APP -type f -exec du --files0-from={} ;",
    "grep -d recurse . APP",
    "grep --rec . APP",
    "diff --unidirectional-new-file EMPTY APP",
    "diff -N --from-file=APP EMPTY",
    "cat /proc/self/cwdLINK",
    "xargs -aLINK",
    "git config -fLINK -l",
    "git -C APP config -f link -l",
    "find APP -execdir cat second ;",
    "find SECOND -execdir cat second ;",
    "ls -d APP/link APP/second | xargs cat",
    "find APP | xargs -n 1 cat",
    "date -fLINK",
    "date -ufSECOND",
    "file -bfLINK",
    "file -fSECOND",
    "sed '$rLINK' APP/plain.txt",
    "sed '$rSECOND' APP/plain.txt",
    "sed -n '$RLINK' APP/plain.txt",
    "awk 'NR==1{while((getline l < \"LINK\")>0) print l}' APP/plain.txt",
    "awk 'BEGIN{while((getline l < \"SECOND\")>0) print l}'",
    "strings @LINK",
    "size @SECOND",
    "timeout 5 sh -c 'cat LINK'",
    "timeout 5 sh -c 'cat SECOND | rev'",
    "timeout 5 sh -c 'cat /proc/self/rootLINK'",
    "cat /proc/self/rootSECOND",
    "cat LINK",
    "tac SECOND",
    "sort SECOND",
    "base64 LINK",
    "comm APP/plain.txt SECOND",
    "jq -n 'import \"APP/data\" as $d; $d'",
    "jq -Rn --rawfile x LINK '$x'",
];

#[test]
fn a_line_shows_no_file_by_a_name_that_hides_in_it() {
    let secret = format!("wx{}", Chance(fastrand::u64(..)).secret("an", 18));
    let hidden = Hidden::new(&secret);
    let mut bot = Bot::json(&hidden.home);
    let backwards: String = secret.chars().rev().collect();
    let mut ran = 0;
    for template in LINES {
        let line = hidden.line(template);
        let answer = bot.ask(&format!("run {line}"));
        let said = format!("{:?}", answer.messages);
        ran += usize::from(said.contains("`:") || said.contains("ended with exit code"));
        assert!(!said.contains(&secret) && !said.contains(&backwards), "{line}: {said}");
    }
    assert!(ran >= 18, "most of them run: {ran}");
    // What is named openly is read, also in a folder and from within a program.
    for (template, shown) in [
        ("cat APP/plain.txt", "nothing to hide"),
        ("grep -rh nothing APP", "nothing to hide"),
        ("timeout 5 sh -c 'cat APP/plain.txt'", "nothing to hide"),
        ("awk '{while((getline l < \"APP/plain.txt\")>0) print l}' /etc/hostname", "nothing to hide"),
        ("head -n 1 /etc/passwd", "root"),
        ("find APP -name plain.txt | xargs cat", "nothing to hide"),
        ("readlink APP/link", "app/.ssh/id_rsa"),
        ("ls -ld APP/plain-link", "-> "),
        ("find /proc/1 -maxdepth 3 -name none", "exit code 1"),
        ("ls", "commands begin in an empty folder"),
        ("ls APP", "second"),
        ("pwd", "/proc/fs/empty"),
    ] {
        let answer = bot.ask(&format!("run {}", hidden.line(template))).text();
        assert!(answer.contains(shown), "{template}: {answer}");
    }
    bot.end();
}

#[test]
fn what_the_configuration_hides_no_command_sees() {
    let home = Home::new();
    let file = home.write("hidden.txt", "not for commands\n").display().to_string();
    home.write("countersign.toml", format!("[run]\nhide = [\"{file}\"]\n"));
    let mut bot = Bot::json(&home);
    for line in ["cat FILE", "head -n 1 FILE", "sort FILE", "grep -c . FILE", "tail -n 1 FILE | cat"] {
        let answer = bot.ask(&format!("run {}", line.replace("FILE", &file))).text();
        assert!(answer.contains("is hidden from commands (`[run] hide`)"), "{line}: {answer}");
    }
    bot.end();
}

/// Each printed the password of a file that the line names, in a way that no mask could know by its shape.
const CUTS: [&str; 22] = [
    "cut -d= -f2 FILE",
    "grep -o 'Q.*' FILE",
    "grep -oE '[A-Za-z0-9]{12,}' FILE",
    "rev FILE",
    "base64 FILE",
    "base32 FILE",
    "xxd FILE",
    "xxd -p FILE",
    "od -c FILE",
    "hexdump -C FILE",
    "fold -w 3 FILE",
    "tail -c 30 FILE",
    "tr '=' '\\n' <<< x",
    "cat FILE | tr = ' '",
    "sed 's/.*=//' FILE",
    "awk -F= '{print $2}' FILE",
    "sort -r FILE | cut -c 13-",
    "jq -r .password JSON",
    "jq -r '.[]' JSON",
    "jq -r '.password|@base64' JSON",
    "tail -n 1 YAML",
    "cat YAML | rev",
];

#[test]
fn a_line_prints_no_secret_of_a_file_that_it_names() {
    let secret = format!("Q{}", Chance(fastrand::u64(..)).secret("an", 15));
    let home = Home::new();
    let file = home.write("shop.conf", format!("listen=80\nDB_PASSWORD={secret}\n")).display().to_string();
    let object = home.write("shop.json", format!("{{\"password\":\"{secret}\",\"port\":80}}\n")).display().to_string();
    let yaml = home.write("shop.yaml", format!("port: 80\npassword:\n  {secret}\n")).display().to_string();
    let mut bot = Bot::json(&home);
    let letters = |text: &str| text.chars().filter(char::is_ascii_alphanumeric).collect::<String>();
    let backwards: String = secret.chars().rev().collect();
    let hex = secret.bytes().fold(String::new(), |hex, byte| format!("{hex}{byte:02x}"));
    let mut masked = 0;
    let lines = CUTS.map(|line| format!("run {line}"));
    let windows = ["last 1 lines of YAML", "run tail -n 1 YAML", "show YAML from line 3"].map(str::to_owned);
    for line in lines.into_iter().chain(windows) {
        let line = line.replace("FILE", &file).replace("JSON", &object).replace("YAML", &yaml);
        let text = bot.ask(&line).text();
        masked += usize::from(text.contains("masked"));
        let answer = letters(&text);
        for form in [&secret, &backwards, &hex] {
            assert!(!answer.contains(form.as_str()), "{line}: {text}");
        }
    }
    assert!(masked >= 15, "{masked}");
    bot.end();
}

/// In the form of a game, each printed the same password, or told whether a guess of it was right.
const GAMES: [&str; 36] = [
    "sed 's/./&xyz/g' FILE",
    "cat FILE | sed 's/./&xyz/g'",
    "cat FILE | tr A-Za-z0-9 b-zAB-Za1-90",
    "gzip -nc FILE | base64",
    "cat FILE | gzip -nc | base64",
    "zcat PACKED | sed 's/./&xyz/g'",
    "zcat PACKED | cut -c 13- | rev",
    "find FOLDER -name '*.conf' | xargs sed 's/./&xyz/g'",
    "find FOLDER -name '*.conf' -exec sed 's/./&xyz/g' {} +",
    "awk '{while((getline l < \"FILE\")>0) {gsub(/./,\"&-\",l); print l}}' /etc/hostname",
    "diff --line-format='%l|' FILE /etc/hostname | rev",
    "grep -c '^DB_PASSWORD=[A-M]' FILE",
    "grep -l '^DB_PASSWORD=[A-M]' FILE",
    "awk '/^DB_PASSWORD=[A-M]/ {print 1}' FILE",
    "timeout 5 sh -c 'cat FILE | sed s/./,/3'",
    "cmp -l FILE /etc/hostname",
    "grep --color=always PASSW FILE",
    "zgrep --color=always PASSW PACKED",
    "zgrep -o '[A-Za-z0-9]*' PACKED",
    "base64 PACKED",
    "xxd -p PACKED",
    "sh -c 'zcat PACKED | base64'",
    "bash -c 'zcat PACKED | rev'",
    "timeout 5 sh -c 'zcat PACKED | rev'",
    "sh -c 'sh -c \"zcat PACKED | rev\"'",
    "cat WIDE",
    "xxd -p WIDE",
    "rev WIDE",
    "cat WIDE | xxd -p",
    "grep -c B WIDE",
    "printf 'FOLD%s/shop.conf' ER | xargs rev",
    "find FOLDER -name '*.conf' | xargs grep -c '=[A-M]'",
    "zcat PACKED | grep -c '=[A-M]'",
    "cat PACKED | base64",
    "cat PACKED | xxd -p",
    "xargs -a FILE echo",
];

/// The same asked in words.
const WINDOWS: [&str; 8] = [
    "show FILE",
    "show WIDE",
    "show YAML from line 3",
    "last 1 lines of YAML",
    "last 5 lines of FILE with ORD=B",
    "last 5 lines of FILE with ASSWORD=X",
    "last 5 lines of YAML with B",
    "errors in FILE",
];

/// Two secrets of one length tell whether anything of the file gets through: the answers are the same.
#[test]
fn a_line_tells_nothing_of_a_secret_in_a_file_that_it_names() {
    let home = Home::new();
    let mut chance = Chance(fastrand::u64(..));
    let mut secret = |first: &str| format!("{first}{}", chance.secret("an", 15));
    let secrets = [secret("B"), secret("X")];
    let path = |name: &str| home.path().join(name).display().to_string();
    let (file, packed, folder) = (path("app/shop.conf"), path("shop.gz"), path("app"));
    let (wide, yaml) = (path("shop.utf16"), path("long.yaml"));
    std::fs::create_dir(&folder).expect("a folder can be made");
    let mut bot = Bot::json(&home);
    let mut ran = 0;
    let mut told = secrets.map(|secret| {
        home.write("app/shop.conf", format!("listen=80\nDB_PASSWORD={secret}\n"));
        let packing = std::process::Command::new("gzip").args(["-nc", &file]).output().expect("gzip runs");
        std::fs::write(&packed, packing.stdout).expect("a file can be written");
        std::fs::write(
            &wide,
            format!("DB_PASSWORD={secret}\n").encode_utf16().flat_map(u16::to_le_bytes).collect::<Vec<u8>>(),
        )
        .expect("a file can be written");
        home.write("long.yaml", format!("{}password:\n  {secret}\n", "port: 80\n".repeat(40_000)));
        let commands = CUTS.iter().filter(|line| line.contains("FILE")).chain(&GAMES).map(|line| format!("run {line}"));
        let lines = commands.chain(WINDOWS.map(str::to_owned));
        let answers = lines.map(|template| {
            let line =
                template.replace("YAML", &yaml).replace("WIDE", &wide).replace("FOLD%s", &folder.replace("app", "%s"));
            let line = line
                .replace("FILE", &file)
                .replace("PACKED", &packed)
                .replace("FOLDER", &folder)
                .replace(" ER ", " app ");
            let answer = bot.ask(&line).text();
            ran += usize::from(answer.contains("masked"));
            (template, answer)
        });
        answers.collect::<Vec<_>>().into_iter()
    });
    let [first, second] = &mut told;
    for ((line, first), (_, second)) in first.zip(second) {
        assert_eq!(first, second, "{line}");
    }
    assert!(ran >= 60, "{ran}");
    bot.end();
}

#[test]
fn the_arguments_of_a_process_are_masked() {
    let secret = format!("Q{}", Chance(fastrand::u64(..)).secret("an", 15));
    let mut child = std::process::Command::new("python3")
        .args(["-c", "input()", &format!("--password={secret}"), "--port=8080"])
        .stdin(std::process::Stdio::piped())
        .spawn()
        .expect("python3 is here");
    let pid = child.id();
    let home = Home::new();
    let mut bot = Bot::json(&home);
    let letters = |text: &str| text.chars().filter(char::is_ascii_alphanumeric).collect::<String>();
    for line in [
        "cat /proc/PID/cmdline",
        "awk 'BEGIN{RS=\"\\0\"}{print substr($0,12)}' /proc/PID/cmdline",
        "tail -c 30 /proc/PID/cmdline",
        "find /proc/PID -maxdepth 1 -name cmdline -exec tail -c 30 {} +",
        "sh -c 'ps -o args= -p PID | cut -c 30-'",
        "ps -o args= -p PID | cut -c 30-",
    ] {
        let answer = bot.ask(&format!("run {}", line.replace("PID", &pid.to_string()))).text();
        assert!(!letters(&answer).contains(&secret), "{line}: {answer}");
        assert!(answer.contains("8080"), "{line}: {answer}");
    }
    for line in [
        "echo PID | xargs -I{} cut -d= -f2- /proc/{}/cmdline",
        "printf '/proc/%s/cmdline' PID | xargs grep -ao 'word=[^-]*'",
    ] {
        let answer = bot.ask(&format!("run {}", line.replace("PID", &pid.to_string()))).text();
        assert!(!letters(&answer).contains(&secret), "{line}: {answer}");
    }
    // What is masked is not found: a guess is neither right nor wrong.
    let mut found = |text: &str| bot.ask(&format!("run pgrep -fa -- '{text}'")).text().contains(&pid.to_string());
    assert_eq!(["port=80", "word=Q"].map(&mut found), [true, false]);
    bot.end();
    child.kill().expect("it runs");
    child.wait().expect("it ends");
}

#[test]
fn what_needs_the_true_content_and_shows_nothing_of_it_has_it() {
    let home = Home::new();
    let file = home.write("shop.conf", "DB_PASSWORD=Qw7hJ2kLm9Zx5\n").display().to_string();
    let sum = std::process::Command::new("sha256sum").arg(&file).output().expect("it runs").stdout;
    let sum = String::from_utf8_lossy(&sum).split(' ').next().unwrap_or_default().to_owned();
    std::process::Command::new("tar")
        .args(["-cf", "a.tar", "shop.conf"])
        .current_dir(home.path())
        .status()
        .expect("it runs");
    let mut bot = Bot::json(&home);
    for (line, shown) in [
        (format!("sha256sum {file}"), sum.as_str()),
        (format!("wc -c {file}"), "26"),
        (format!("tar -tf {}/a.tar", home.path().display()), "shop.conf"),
        (
            "cat /usr/bin/env | wc -c".to_owned(),
            &std::fs::metadata("/usr/bin/env").expect("it is there").len().to_string(),
        ),
    ] {
        let answer = bot.ask(&format!("run {line}")).text();
        assert!(answer.contains(shown), "{line}: {answer}");
    }
    bot.end();
}

#[test]
fn what_is_too_large_to_be_looked_through_is_read_in_whole_lines() {
    let home = Home::new();
    let file = home.write("large.log", "DB_PASSWORD=Qw7hJ2kLm9Zx5\nstatus 500\n").display().to_string();
    std::fs::File::options().append(true).open(&file).expect("it is there").set_len(9 << 20).expect("it can grow");
    let mut bot = Bot::json(&home);
    let mut ask = |line: &str| bot.ask(&format!("run {}", line.replace("FILE", &file))).text();
    let answer = ask("diff -a FILE /etc/hostname");
    let advice = format!("which is too large to be looked through first; write `cat {file} | diff ...` instead");
    assert!(answer.contains(&advice), "{answer}");
    for line in [
        "cat FILE | awk '/status/ {print $2}'",
        "grep -a status FILE | awk '{print $2}'",
        "awk '/status/ {print $2}' FILE",
    ] {
        assert!(ask(line).contains("500"), "{line}");
    }
    for line in [
        "cat FILE | head -n 1 | cut -c 13-",
        "head -n 1 FILE",
        "grep -a DB_ FILE | rev",
        "grep -ao 'PASS.*' FILE",
        "sed -n '1s/./&x/gp' FILE",
        "head -c 40 FILE | rev",
        "tac FILE | head -n 2",
    ] {
        let answer = ask(line);
        assert!(answer.contains("masked") && !answer.contains("Qw7") && !answer.contains("7wQ"), "{line}: {answer}");
    }
    assert_eq!(ask("grep -ac =Q FILE").lines().last(), Some("0"), "what is masked is not found");
    // A secret is known by the line above it.
    let yaml = home.write("large.yaml", format!("{}password:\n  Qw7hJ2kLm9Zx5\n", "port: 80\n".repeat(1_100_000)));
    for line in [
        "tail -n 1 YAML",
        "tail -n 1 YAML | rev",
        "grep Qw YAML",
        "timeout 9 grep Qw YAML",
        "grep -h Qw YAML FILE",
        "grep -c Qw YAML /dev/null",
        "cat -n YAML | tail -n 1",
        "cat YAML | tail -n 1",
        "echo YAML | xargs tail -n 1",
    ] {
        let line = line.replace("YAML", &yaml.display().to_string());
        let answer = ask(&line);
        assert!(!answer.contains("Qw7") && !answer.contains("7wQ") && !answer.contains(":1"), "{line}: {answer}");
    }
    home.write("small.log", "status 500\n");
    let folder = home.path().display().to_string();
    for guess in ["=Q", "=W"] {
        let answer = ask(&format!("grep -rac {guess} {folder}"));
        assert!(answer.contains("small.log:0") && !answer.contains(":1"), "{answer}");
    }
    let answer = ask(&format!("grep -rn status {folder}"));
    let left_out = "2 files were left out and count as empty";
    assert!(answer.contains("small.log:1:status 500") && answer.contains(left_out), "{answer}");
    let answer = ask(&format!("sort -u {}", yaml.display()));
    assert!(answer.contains("port: 80"), "{answer}");
    // Names and sizes are of the file itself.
    let answer = bot.ask(&format!("run ls -l {file}")).text();
    assert!(answer.contains("9437184"), "{answer}");
    bot.end();
}

/// What is covered reads as empty, which would be a wrong answer if nobody said so.
#[test]
fn what_a_command_does_not_get_to_see_in_a_folder_is_said() {
    let home = Home::new();
    let lines = "status 200\n".repeat(200);
    let file = home.write("app/old.sqlite", format!("\0\u{fffd}{lines}DB_PASSWORD=Qw7hJ2kLm9Zx5\n"));
    home.write("app/new.log", "status 500\n");
    let folder = home.path().join("app").display().to_string();
    let mut bot = Bot::json(&home);
    for line in ["find FOLDER -type f | xargs awk '/status/ {print $2}'", "find FOLDER -type f -exec cut -c 1-3 {} +"] {
        let answer = bot.ask(&format!("run {}", line.replace("FOLDER", &folder))).text();
        let said = format!("`{}` was left out and counts as empty", file.display());
        assert!(answer.contains(&said), "{line}: {answer}");
    }
    let answer = bot.ask("run find /etc -maxdepth 1 -name shadow -exec wc -c {} +").text();
    assert!(answer.contains("what is secret in `/etc` counts as empty"), "{answer}");
    bot.end();
}

#[test]
fn what_not_everyone_may_read_in_the_systems_folders_is_read_only_where_it_is_shown() {
    let private =
        tempfile::Builder::new().prefix("countersign-").suffix("_token").tempfile_in("/run").expect("root makes it");
    let path = private.path().display().to_string();
    std::fs::write(private.path(), "a word and another\nDB_PASSWORD=Qw7hJ2kLm9Zx5\nand another\n")
        .expect("a file can be written");
    let lines = [
        "run cat FILE",
        "run head -n 1 FILE | rev",
        "run find /run -maxdepth 1 -name '*_token' -exec cat {} +",
        "show FILE",
        "last 1 lines of FILE",
        "run sed '$rFILE' /etc/hostname",
    ];
    let answers = |config: &str| {
        let home = Home::new();
        home.write("countersign.toml", config);
        let mut bot = Bot::json(&home);
        let answers = lines.map(|line| bot.ask(&line.replace("FILE", &path)).text());
        bot.end();
        answers
    };
    for (line, answer) in lines.iter().zip(answers("")) {
        assert!(!answer.contains("another") && !answer.contains("rehtona"), "{line}: {answer}");
        let is_said = answer.contains("ot everyone on this machine may read");
        assert!(is_said || line.contains("find") || line.contains("sed"), "{line}: {answer}");
    }
    for (line, answer) in lines.iter().zip(answers(&format!("[run]\nshow = [\"{path}\"]\n"))) {
        assert!(answer.contains("another") || answer.contains("rehtona"), "{line}: {answer}");
    }
}

/// Waits until a command sleeps for so long, and at most until it has certainly slept.
fn until_asleep(seconds: &str) {
    let over = tokio::time::Instant::now() + std::time::Duration::from_secs(30);
    let is_asleep = || {
        let all = procfs::process::all_processes().expect("/proc is there").flatten();
        let mut words = all.filter_map(|one| one.cmdline().ok());
        words.any(|words| words.len() == 2 && words[0].ends_with("sleep") && words[1] == seconds)
    };
    while !is_asleep() {
        assert!(tokio::time::Instant::now() < over, "nothing sleeps for {seconds} s");
        std::thread::yield_now();
    }
}

#[test]
fn where_a_covered_file_is_replaced_meanwhile_nothing_is_shown() {
    let home = Home::new();
    let folder = home.path().join("app");
    std::fs::create_dir(&folder).expect("a folder can be made");
    for (name, content) in [(".env", "old word"), ("shop.conf", "DB_PASSWORD=Qw7hJ2kLm9Zx5")] {
        std::fs::write(folder.join(name), content).expect("a file can be written");
    }
    let mut bot = Bot::json(&home);
    let plain = home.write("plain.log", "nothing\n");
    let appending = std::thread::spawn({
        let plain = plain.clone();
        move || {
            until_asleep("2.06");
            std::fs::write(plain, "nothing\nDB_PASSWORD=Qw7hJ2kLm9Zx5\n").expect("a file can be written");
        }
    });
    let answer = bot.ask(&format!("run sleep 2.06; rev {}", plain.display())).text();
    appending.join().expect("it was written");
    assert!(answer.contains("plain.log` while the command ran") && !answer.contains("5xZ9"), "{answer}");
    for (replaced, seconds) in [(".env", "2.07"), ("shop.conf", "2.08")] {
        let (from, to) = (home.write("new", "another word"), folder.join(replaced));
        let replacing = std::thread::spawn(move || {
            // Where it sleeps, its covers are in their places.
            until_asleep(seconds);
            std::fs::rename(from, to).expect("it can be replaced");
        });
        let line = format!("run timeout 9 sh -c 'sleep {seconds}; grep -rh . {}'", folder.display());
        let answer = bot.ask(&line).text();
        replacing.join().expect("it was replaced");
        assert!(answer.contains(&format!("{replaced}` was replaced while the command ran")), "{answer}");
        assert!(!answer.contains("another word"), "{answer}");
    }
    bot.end();
}
