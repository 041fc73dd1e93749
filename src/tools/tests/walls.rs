//! What a server can and cannot reach: our environment, our log, and a life beyond ours.

use super::*;

/// The name under which a token of ours stands in our environment.
const TOKEN: &str = "COUNTERSIGN_TELEGRAM__TOKEN";

#[test]
fn a_token_in_our_environment_does_not_reach_a_server() {
    // A test cannot change its own environment, so it runs the next one again in a process that has a token.
    let us = std::env::current_exe().expect("we run");
    let mut child = Command::new(us);
    let (_, module) = module_path!().split_once("::").expect("a module of a crate");
    child.args(["--exact", &format!("{module}::the_environment_of_a_server"), "--nocapture"]);
    let output = child.envs([(TOKEN, "123:secret"), ("DOCKER_HOST", "unix:///x")]).output().expect("we run again");
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success() && said.contains("1 passed") && said.contains("token was there"), "{said}");
}

#[tokio::test]
async fn the_environment_of_a_server() {
    let fake = Fake::with(|config, _| config.env = vec!["DOCKER_HOST".to_owned(), "NOT_SET_ANYWHERE".to_owned()]);
    let answer = fake.run(&read("env", json!({}))).await;
    // LC_CTYPE is set by the interpreter itself.
    let known = ["PATH", "LANG", "TZ", "DOCKER_HOST", "LC_CTYPE", "SPOKE_PERMIT_KEY"];
    let names: Vec<&str> = answer.data["names"].as_array().expect("a list").iter().filter_map(Value::as_str).collect();
    assert!(names.iter().all(|name| known.contains(name)), "{names:?}");
    assert_eq!(answer.data["path"], "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin");
    assert_eq!(answer.data["group"], fake.pid().await, "it leads a group of its own");
    if std::env::var_os(TOKEN).is_some() {
        assert!(names.contains(&"DOCKER_HOST"), "{names:?}");
        println!("the token was there");
    }
}

#[test]
fn a_configuration_that_would_leak_or_confuse_is_refused() {
    let table: [(&str, &str); 4] = [
        (
            "SPOKE_PERMIT_KEY",
            "spokes.fake.env: `SPOKE_PERMIT_KEY` is a setting of the bot's own and passes to no server; remove it",
        ),
        (
            "countersign_model__api_key",
            "spokes.fake.env: `countersign_model__api_key` is a setting of the bot's own and passes to no server; remove it",
        ),
        ("A=b", "spokes.fake.env: \"A=b\" is no name of an environment variable; write the name alone"),
        ("", "spokes.fake.env: \"\" is no name of an environment variable; write the name alone"),
    ];
    let refused =
        |configs| Spokes::new(configs, &registry(), &Arc::default()).err().map(|error: SpokesError| error.to_string());
    for (name, expected) in table {
        let config = SpokeConfig { env: vec![name.to_owned()], ..config() };
        assert_eq!(refused(vec![config]).as_deref(), Some(expected));
    }
    let twice = refused(vec![config(), config()]);
    assert_eq!(twice.as_deref(), Some("spokes.fake is there twice; give one of them another name"));
}

#[tokio::test]
async fn after_shutdown_no_process_lives() {
    let table: [&[&str]; 2] = [&[], &["--stubborn"]];
    for options in table {
        let fake = Fake::with(|config, dir| {
            config.args.extend(options.iter().map(|&option| option.to_owned()));
            config.args.extend(["--child".to_owned(), text(&dir.join("child"))]);
        });
        let server = fake.pid().await;
        let child: u64 = fake.lines("child")[0].parse().expect("a number");
        assert!(exists(server) && works(child));
        let slow = read("slow", json!({"until": fake.mark("never"), "mark": fake.mark("slow")}));
        let shutdown = async {
            until("the slow call runs", || !fake.lines("slow").is_empty()).await;
            fake.spokes.shutdown().await;
        };
        let (answer, ()) = tokio::join!(fake.run(&slow), shutdown);
        assert!(!exists(server), "{options:?}: neither running nor a zombie");
        until("what it had started is gone too", || !works(child)).await;
        assert_eq!(failure(answer).message, "The tool server `fake` is down: the bot is stopping.");
        assert!(!fake.run(&read("echo", json!({}))).await.ok, "and nothing is started any more");
        assert_eq!(fake.lines("starts").len(), 1);
    }
}

#[tokio::test]
async fn a_server_that_outlives_its_input_is_asked_before_it_is_killed() {
    let fake = Fake::with(|config, dir| config.args.extend(["--deaf".to_owned(), text(&dir.join("asked"))]));
    let server = fake.pid().await;
    fake.spokes.shutdown().await;
    assert_eq!(fake.lines("asked"), [server.to_string()]);
    assert!(!exists(server));
}

#[tokio::test]
async fn a_set_that_is_dropped_while_a_server_starts_leaves_no_process() {
    let Fake { spokes, dir } = Fake::with(|config, _| {
        config.args.push("--mute".to_owned());
        config.start_limit = AMPLE * 100;
    });
    spokes.run(&ToolCall { limit_ms: 50, ..read("echo", json!({})) }).await;
    let starts = || std::fs::read_to_string(dir.path().join("starts")).unwrap_or_default();
    until("the process is there", || starts().ends_with('\n')).await;
    drop(spokes);
    let server = starts().trim().parse().expect("a number");
    until("the process is buried", || !exists(server)).await;
}

#[tokio::test]
async fn a_dropped_set_leaves_no_process() {
    let Fake { spokes, dir: _dir } = Fake::new(&["--stubborn"]);
    let server = pid(&spokes.run(&read("echo", json!({}))).await);
    assert!(exists(server));
    drop(spokes);
    until("the process is buried", || !exists(server)).await;
}

#[test]
fn a_dropped_runtime_leaves_no_process() {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    let fake = Fake::with(|config, dir| {
        config.args.extend(["--stubborn".to_owned(), "--child".to_owned(), text(&dir.join("child"))]);
    });
    let server = runtime.block_on(fake.pid());
    let child: u64 = fake.lines("child")[0].parse().expect("a number");
    drop(runtime);
    let buried = async {
        until("the server does nothing more", || !works(server)).await;
        until("nor does its child", || !works(child)).await;
    };
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    runtime.block_on(buried);
}

/// The log, as it would be printed.
#[derive(Clone, Default)]
struct Log(Arc<Mutex<Vec<u8>>>);

impl Log {
    fn lines(&self) -> Vec<String> {
        let bytes = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        String::from_utf8_lossy(&bytes).lines().filter(|line| line.contains(" spoke: ")).map(str::to_owned).collect()
    }

    fn capture(&self) -> tracing::subscriber::DefaultGuard {
        // With only one subscriber about, tracing lets the thread that first meets an event decide for ever whether
        // anybody wants it, and that thread may be another test's. A second one makes it ask them all.
        static OTHER: OnceLock<tracing::Dispatch> = OnceLock::new();
        OTHER.get_or_init(|| tracing::Dispatch::new(tracing_subscriber::fmt().with_writer(io::sink).finish()));
        let log = self.clone();
        let subscriber = tracing_subscriber::fmt().with_ansi(false).with_writer(move || log.clone());
        tracing::subscriber::set_default(subscriber.finish())
    }
}

impl io::Write for Log {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[tokio::test]
async fn what_a_server_writes_beside_its_answers_is_in_our_log_and_bounded() {
    let log = Log::default();
    let _captured = log.capture();
    let fake = Fake::new(&[]);
    assert!(fake.run(&read("stderr_flood", json!({"lines": 1, "width": 5_000}))).await.ok);
    assert!(fake.run(&read("stderr_flood", json!({"lines": 20_000}))).await.ok, "a flood blocks nobody");
    fake.run(&write("die", json!({}))).await;
    fake.spokes.shutdown().await;
    let lines = log.lines();
    let flood: Vec<&String> = lines.iter().filter(|line| line.contains("flood ")).collect();
    assert!(flood.iter().any(|line| line.contains("(cut)")) && flood.iter().all(|line| line.len() < 2_200));
    assert!(flood.len() < 5_000, "{} lines", flood.len());
    assert!(lines.iter().any(|line| line.contains("lines left out: it writes too fast")));
    assert!(lines.iter().any(|line| line.contains("is down: it ended with exit status: 7")), "a crash is reported");
}

#[tokio::test]
async fn tools_that_are_not_declared_are_logged_once() {
    let log = Log::default();
    let _captured = log.capture();
    let fake = Fake::new(&[]);
    fake.run(&read("die", json!({"unless": fake.mark("died")}))).await;
    fake.spokes.shutdown().await;
    assert_eq!(fake.lines("starts").len(), 2);
    let lines = log.lines();
    let foreign: Vec<&String> = lines.iter().filter(|line| line.contains("not declared")).collect();
    assert!(foreign.len() == 1 && foreign[0].contains("they are ignored: fake_undeclared spoke="), "{lines:?}");
}
