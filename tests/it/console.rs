//! What a person and a script meet at the console of the real binary, with the real host spoke behind it. What is wrong
//! at the start is in `startup`, trouble with the spoke in `spoke_trouble`, secrets in `secrets`.

use std::fs::File;

use serde_json::{Value, json};

use crate::support::bot::{Answer, Bot, Home, finish};

/// Whether a text would act on a terminal, or turn the order of the text around it.
fn acts(text: &str) -> bool {
    let turns = |c: char| matches!(c, '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    text.chars().any(|c| (c.is_control() && c != '\n') || turns(c))
}

/// What every answer must be, whatever it says: sentences, and no raw data with the names that programs give things.
fn assert_is_for_people(question: &str, answer: &Answer) {
    let text = answer.text();
    assert!(!text.trim().is_empty(), "{question:?} has no answer");
    // What a program printed is the program's own.
    let blocks = answer.messages.iter().filter_map(|message| message["blocks"].as_array()).flatten();
    let printed = blocks.filter(|block| block["type"] == "code").filter_map(|block| block["text"].as_str());
    let own = printed.fold(text.clone(), |text, code| text.replace(code, ""));
    for word in ["withheld", "panicked", "{\"", "null"] {
        assert!(!own.contains(word), "{question:?} answered with {word:?}: {own}");
    }
    let lead = answer.messages[0]["blocks"].as_array().into_iter().flatten().find(|block| block["type"] == "text");
    let lead = lead.and_then(|block| block["text"].as_str()).unwrap_or_default();
    assert!(!lead.contains(['{', '}']) && !lead.contains("unknown"), "{question:?} leads with {lead}");
    if ["failed", "refused"].contains(&answer.mark()) {
        let (sentence, code) = lead.split_once('\n').unwrap_or_default();
        assert!(sentence.contains(' ') && sentence.ends_with('.'), "{question:?} is no sentence: {lead}");
        assert!(code.starts_with('('), "{question:?} has no code: {lead}");
    }
}

#[test]
fn a_question_in_a_script_is_echoed_and_answered() {
    let done = Home::new().pipe("disk usage\nquit\n");
    assert!(done.status.success(), "{done:?}");
    let mut lines = done.out.lines();
    assert_eq!(lines.next(), Some("> disk usage"));
    let header: Vec<_> = lines.next().unwrap_or_default().split_whitespace().collect();
    assert_eq!(header, ["Mount", "Used", "Free", "Size", "Device"]);
    assert!(lines.any(|line| line.starts_with("/ ")), "the root file system is missing: {}", done.out);
    let banner = done.err.lines().collect::<Vec<_>>();
    let greets = |line: &str| line.starts_with("Countersign ");
    let proves = |line: &str| line == format!("Audit trail at 0:{}", "0".repeat(64));
    assert!(matches!(banner[..], [first, second] if greets(first) && proves(second)), "{}", done.err);
}

#[test]
fn every_intent_is_answered_by_this_machine() {
    let file: toml::Table = include_str!("../../config/intents.toml").parse().expect("it is TOML");
    let intents = file["intent"].as_array().expect("a list of intents");
    let home = Home::new();
    let mut bot = Bot::json(&home);
    for intent in intents {
        let example = intent["examples"][0].as_str().expect("an example");
        // The default is to wait for half a minute.
        let example = example.replace("wait until", "wait 1 s until");
        let answer = bot.ask(&example);
        assert_is_for_people(&example, &answer);
        assert!(!answer.text().contains("I don't understand"), "{example:?}: {}", answer.text());
    }
    assert!(intents.len() >= 30, "only {} intents were looked at", intents.len());
    let done = bot.end();
    assert!(done.status.success(), "{done:?}");
    assert!(!done.err.contains("panicked") && !done.err.contains(" ERROR "), "{}", done.err);
}

#[test]
fn a_misspelt_question_is_offered_and_a_number_runs_it() {
    let done = Home::new().pipe("disk usge\n1\n");
    insta::assert_snapshot!(done.answer("disk usge"), @"
    ? I don't understand “disk usge”. Did you mean this? Type 1 or yes to run it.
      1) disk usage - how full every file system is
    ");
    assert!(done.answer("1").starts_with("Mount "), "{}", done.out);
}

#[test]
fn a_number_picks_one_of_several_and_it_means_that_one() {
    let home = Home::new();
    let (one, two) = (home.process("lounger", &["one"]), home.process("lounger", &["two"]));
    let mut bot = Bot::json(&home);
    let which = bot.ask("process lounger");
    assert_eq!(which.mark(), "question", "{}", which.text());
    assert!(which.text().starts_with("2 match “lounger”. Which one?\n"), "{}", which.text());
    let choices: Vec<_> = which.text().lines().skip(1).map(str::to_owned).collect();
    let second = choices.get(1).expect("two choices").clone();
    let picked = if second.contains(&one.pid().to_string()) { &one } else { &two };
    let lead = format!("lounger (pid {}) uses ", picked.pid());
    let detail = bot.ask("2").text();
    assert!(detail.starts_with(&lead), "{detail} instead of {second}");
    let again = bot.ask("show it in detail").text();
    assert!(again.starts_with("“it” is lounger (process:") && again.contains(&lead), "{again}");

    // A script names the question and the position, from 0.
    let which = bot.ask("process lounger");
    let block = which.messages[0]["blocks"].as_array().into_iter().flatten().find(|block| block["type"] == "choices");
    let question = block.expect("choices")["question"].clone();
    let text = bot.ask(&json!({"event": "e1", "question": question, "pick": 1}).to_string()).text();
    assert!(text.starts_with(&lead), "{text}");
    let over = bot.ask(&json!({"event": "e2", "question": question, "pick": 0}).to_string()).text();
    assert_eq!(over, "There is no open question to choose from. Ask again.");
}

#[test]
fn why_shows_the_gates_of_a_refusal_and_reset_forgets() {
    let home = Home::new();
    let _one = home.process("sitter", &[]);
    let mut bot = Bot::json(&home);
    assert_eq!(bot.ask("show file /etc/shadow").mark(), "refused");
    let why = bot.ask("why").text();
    // The machine was discovered first; its call has a trace of its own, which ends with the gates it met.
    let lines: Vec<_> = why.lines().rev().take(3).collect();
    insta::assert_snapshot!(format!("{}\n{}", lines[1].trim(), lines[0].trim()), @"
    passed schema, depth, actor, allowance, repetition, workflow, resolution, routing, intent, vault
    stopped by secrets (POLICY_BLOCKED): that is a place for secrets (password hashes); it is never read or written from a chat
    ");
    assert!(lines[2].contains("reason: asked by ") && lines[2].ends_with(": show file /etc/shadow"), "{why}");
    assert!(bot.ask("process sitter").text().starts_with("sitter (pid "));
    assert_eq!(bot.ask("reset").text(), "Forgotten. This thread starts anew.");
    let lost = bot.ask("show it in detail").text();
    insta::assert_snapshot!(lost, @"I do not know what “it” is: nothing was spoken of lately. Say its name.");
    assert!(bot.ask("status").text().starts_with("this thread | RESOLVING\nthings known here | 0\n"));
}

#[test]
fn two_threads_share_nothing_and_an_event_is_answered_once() {
    let home = Home::new();
    let _one = home.process("slumberer", &[]);
    let run = |thread: &str, input: &str| {
        let done = finish(home.bot().args(["--json", "--thread", thread]), input.as_bytes());
        assert!(done.status.success(), "{done:?}");
        let events = done.out.lines().map(|line| serde_json::from_str(line).expect("an event"));
        events.collect::<Vec<Value>>()
    };
    let kinds = |events: &[Value]| -> Vec<String> {
        events.iter().map(|event| event["type"].as_str().unwrap_or_default().to_owned()).collect()
    };
    let text = |events: &[Value]| {
        let messages = events.iter().filter(|event| event["type"] == "message").cloned().collect();
        Answer { messages }.text()
    };
    let ask = |event: &str, text: &str| json!({"event": event, "text": text}).to_string() + "\n";
    let first = run(
        "a",
        &[ask("e1", "process slumberer"), ask("e1", "process slumberer"), ask("e2", "show it in detail")].concat(),
    );
    assert_eq!(kinds(&first).iter().filter(|kind| *kind == "duplicate").count(), 1, "{first:?}");
    assert_eq!(kinds(&first).iter().filter(|kind| *kind == "answered").count(), 2, "{first:?}");
    assert!(text(&first).contains("“it” is slumberer"), "{first:?}");

    let second = run("b", &[ask("e3", "show it in detail"), ask("e4", "what do you know about slumberer")].concat());
    assert!(text(&second).starts_with("I do not know what “it” is"), "{second:?}");
    assert!(text(&second).contains("slumberer: nothing in this thread is called so."), "{second:?}");

    // A script that was cut off repeats its lines: also another process does not answer them again.
    let repeated = run("a", &[ask("e1", "process slumberer"), ask("e5", "status")].concat());
    assert_eq!(kinds(&repeated), ["duplicate", "accepted", "message", "answered"]);
}

#[test]
fn more_lines_at_once_than_a_queue_holds_are_all_answered_in_order() {
    let home = Home::new();
    let waited_for = home.process("lasting", &[]);
    let mut lines = format!("wait 1 s until process {} is gone\n", waited_for.pid());
    let names: Vec<_> = (0..150).map(|n| format!("line{n}")).collect();
    for name in &names {
        lines.push_str(&json!({"event": name, "text": format!("what do you know about {name}")}).to_string());
        lines.push('\n');
    }
    let done = finish(home.bot().arg("--json"), lines.as_bytes());
    assert!(done.status.success(), "{done:?}");
    let events: Vec<Value> = done.out.lines().map(|line| serde_json::from_str(line).expect("an event")).collect();
    let of = |kind: &str| events.iter().filter(|event| event["type"] == kind).collect::<Vec<_>>();
    assert_eq!(of("error"), Vec::<&Value>::new());
    let accepted: Vec<_> = of("accepted").iter().skip(1).map(|event| event["event"].clone()).collect();
    assert_eq!(accepted, names);
    let signals_of = |kind: &str, key: &str| -> Vec<String> {
        of(kind).iter().filter_map(|event| event[key].as_str()).map(str::to_owned).collect()
    };
    let accepted = signals_of("accepted", "signal");
    assert_eq!(signals_of("message", "answers"), accepted);
    // That a signal is done may be noted a little after the next one's message.
    let (mut answered, mut expected) = (signals_of("answered", "signal"), accepted);
    answered.sort();
    expected.sort();
    assert_eq!(answered, expected);
    let about: Vec<_> =
        of("message").iter().skip(1).map(|event| Answer { messages: vec![(*event).clone()] }.text()).collect();
    assert_eq!(about.len(), names.len());
    for (about, name) in about.iter().zip(&names) {
        assert!(about.contains(&format!("{name}: nothing in this thread is called so")), "{about} for {name}");
    }
}

#[test]
fn what_is_no_line_is_refused_by_a_sentence_and_the_next_one_works() {
    let home = Home::new();
    let mut input = b"\xff\xfe\x80 load\n".to_vec();
    input.extend(b"x".repeat(9 * 1024));
    input.extend(b"\n# a remark\n\nwho am i\n");
    let done = finish(&mut home.bot(), &input);
    assert!(done.status.success(), "{done:?}");
    assert!(!acts(&done.out), "{}", done.out);
    let first = done.answer("\u{fffd}\u{fffd}\u{fffd} load");
    assert!(
        first.trim_start_matches("? ").starts_with("I don't understand “\u{fffd}\u{fffd}\u{fffd} load”."),
        "{first}"
    );
    assert!(done.out.contains("refused: A line of 9216 bytes was not taken: the limit is 8192 bytes (8 KiB)."));
    assert!(done.answer("who am i").starts_with("you are:"), "{}", done.out);
    // As JSON, too, and with what only looks like an object.
    input.splice(0..0, *b"{\"text\":\n{\"text\":\"load\",\"colour\":1}\n");
    let done = finish(home.bot().arg("--json"), &input);
    let events: Vec<Value> = done.out.lines().map(|line| serde_json::from_str(line).expect("an event")).collect();
    let errors: Vec<_> = events.iter().filter(|event| event["type"] == "error").collect();
    assert_eq!(errors.len(), 3, "{events:?}");
    assert!(errors[1]["message"].as_str().is_some_and(|text| text.contains("unknown field `colour`")), "{errors:?}");
    assert_eq!(events.iter().filter(|event| event["type"] == "answered").count(), 2, "{events:?}");
}

#[test]
fn a_hostile_log_of_ten_megabytes_is_shown_bounded_and_harmless() {
    let home = Home::new();
    let mut log = Vec::new();
    let filler = "z".repeat(70);
    for n in 0..100_000 {
        log.extend(format!("line {n} \x1b[31m\x07\u{202e} @everyone {filler} ").as_bytes());
        log.extend(b"\xff\xfe\n");
    }
    assert!(log.len() >= 10_000_000);
    let log = home.write("big.log", log);
    let question = format!("last 20 lines of {}", log.display());
    let done = home.pipe(&format!("{question}\n"));
    let answer = done.answer(&question);
    let shown: Vec<_> = answer.lines().filter(|line| line.starts_with("  line ")).collect();
    assert_eq!(shown.len(), 20, "{answer}");
    assert!(shown[0].starts_with(r"  line 99980 \u{1b}[31m\u{7}\u{202e} ") && shown[19].starts_with("  line 99999 "));
    assert!(shown.iter().all(|line| line.len() < 300), "{answer}");
    assert!(!acts(&done.out) && !done.out.contains("@everyone"), "{answer}");
    let done = finish(home.bot().arg("--json"), format!("{question}\n").as_bytes());
    assert!(!acts(&done.out) && !done.out.contains("@everyone"), "{}", done.out);
}

#[test]
fn a_folder_of_a_hundred_thousand_files_is_shown_in_part() {
    let home = Home::new();
    let folder = home.path().join("many");
    std::fs::create_dir(&folder).expect("a directory can be created");
    for n in 0..100_000 {
        File::create(folder.join(n.to_string())).expect("a file can be created");
    }
    let mut bot = Bot::json(&home);
    let answer = bot.ask(&format!("list {}", folder.display()));
    let text = answer.text();
    assert!(text.starts_with(&format!("{} has 100000 matches.\n", folder.display())), "{text}");
    assert!(text.len() < 16 * 1024 && text.lines().count() < 250, "{} bytes", text.len());
    let more = text.lines().last().unwrap_or_default();
    insta::assert_snapshot!(more, @"200 of 100000 matches are shown; ask for a narrower name, like `find *.log in FOLDER`.");
}

#[test]
fn names_of_files_and_processes_are_shown_harmless() {
    let home = Home::new();
    let folder = home.path().join("folder");
    for name in ["@everyone **b** `c`", "\x1b[31mred\x07", "\u{202e}gnp.exe", "two\nlines", "[x](evil.example)"] {
        std::fs::create_dir_all(folder.join(name)).expect("a directory can be created");
    }
    let process = home.process("@here\x1b[1m", &["@everyone", "\u{202e}"]);
    let questions = format!("list {}\nprocess {}\nfind process @here\n", folder.display(), process.pid());
    for json in [false, true] {
        let mut command = home.bot();
        if json {
            command.arg("--json");
        }
        let done = finish(&mut command, questions.as_bytes());
        assert!(!acts(&done.out), "{}", done.out);
        // The person's own words are echoed as they were typed.
        let answers = done.out.replace("> find process @here\n", "");
        assert!(!answers.contains("@everyone") && !answers.contains("@here"), "{answers}");
        for name in ["everyone **b** `c`", "gnp.exe", "evil.example"] {
            assert!(answers.contains(name), "{name:?} is not shown: {answers}");
        }
        assert!(answers.contains(&process.pid().to_string()), "{answers}");
    }
}

#[test]
fn a_full_standard_output_ends_the_run() {
    // Nobody is kept waiting for room, and the data directory is free again for the next run.
    let home = Home::new();
    let binary = env!("CARGO_BIN_EXE_countersign");
    let line = format!("echo status | timeout 20 {binary} --data {} > /dev/full", home.data().display());
    let status = std::process::Command::new("bash").args(["-c", &line]).status().expect("bash runs");
    assert_eq!(status.code(), Some(3));
}
