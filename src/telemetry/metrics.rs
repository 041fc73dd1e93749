//! Metrics: one table of every name, its labels and what it says, the functions that record them, and the endpoint that
//! shows them where one is configured. What is counted is decided where it happens.

use std::sync::OnceLock;
use std::time::Duration;

use ::metrics::Label;
use metrics_exporter_prometheus::{BuildError, PrometheusBuilder, PrometheusHandle};

use super::TelemetryError;
use crate::config::Metrics;

/// What every name begins with (TEL-08).
const PREFIX: &str = "countersign_";
/// The most characters of a label's value (TEL-09 gives none; 64 keeps a line readable).
const LABEL_CHARS_MAX: usize = 64;
/// Upper bounds of the histograms' buckets in seconds: from one step of the core to the longest request.
const BUCKETS: &[f64] = &[0.001, 0.005, 0.025, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0, 120.0, 300.0];
/// How often samples are moved into their buckets where nobody scrapes.
const UPKEEP: Duration = Duration::from_secs(5);

/// What a metric measures.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// How often something happened.
    Counter,
    /// How many seconds something took.
    Seconds,
    /// How something stands.
    Gauge,
}

/// A metric: its name without the prefix, its labels in order, and what it says.
#[derive(Clone, Copy, Debug)]
pub struct Metric {
    /// Without `countersign_`.
    pub name: &'static str,
    /// Its kind.
    pub kind: Kind,
    /// Names of its labels, in the order in which they are given. Never a person, a thread or an id (TEL-09).
    pub labels: &'static [&'static str],
    /// One sentence for whoever reads the dashboard.
    pub about: &'static str,
}

const fn counter(name: &'static str, labels: &'static [&'static str], about: &'static str) -> Metric {
    Metric { name, kind: Kind::Counter, labels, about }
}

const fn timer(name: &'static str, about: &'static str) -> Metric {
    Metric { name, kind: Kind::Seconds, labels: &[], about }
}

const fn gauge_of(name: &'static str, labels: &'static [&'static str], about: &'static str) -> Metric {
    Metric { name, kind: Kind::Gauge, labels, about }
}

/// Every metric there is.
pub const METRICS: &[Metric] = &[
    counter("fsm_tool_block_total", &["state", "tool", "kind"], "Tool calls refused by the workflow table."),
    counter(
        "fsm_final_block_total",
        &["state"],
        "Answers that were held back because a change is not verified, or had to begin with saying so.",
    ),
    counter(
        "strict_resolution_block_total",
        &["tool", "action"],
        "Calls refused because their target was not found here.",
    ),
    counter(
        "routing_mismatch_block_total",
        &["tool", "target_kind", "child_kind"],
        "Calls refused because they went to a parent where a child was meant.",
    ),
    counter(
        "read_only_violation_total",
        &["tool", "category"],
        "Commands refused because nothing proves that they only read and end, by why they do not end.",
    ),
    counter("gate_block_total", &["gate", "code", "tool"], "Refusals by any gate."),
    counter("signals_total", &["platform", "outcome"], "Signals that arrived, by what was done with them."),
    counter("rate_limited_total", &["limit", "told"], "Messages that came over a limit, and whether that was said."),
    counter(
        "signals_set_aside_total",
        &["platform"],
        "Messages that are not worked on again, because the process ended twice while they were.",
    ),
    counter(
        "depth_dropped_total",
        &["platform"],
        "Signals dropped because too many effects lay between them and a person.",
    ),
    counter("requests_total", &["layer", "intent"], "Requests, by the layer that understood them and what they meant."),
    counter("endings_total", &["ending"], "Requests that ended, by how."),
    counter(
        "auto_recovery_attempt_total",
        &["error_code", "tool"],
        "Refusals that a proposer can recover from by itself, each counted once until it is recovered from.",
    ),
    counter("auto_recovery_success_total", &["error_code", "tool"], "Such refusals that were recovered from."),
    counter("stray_answers_total", &[], "Tool answers that nobody waited for any more."),
    counter("foreign_things_total", &["tool", "action"], "Discoveries that named things of a kind that is not theirs."),
    counter("tool_calls_total", &["tool", "action", "ok"], "Tool calls that were made."),
    counter("tool_errors_total", &["tool", "code"], "Tool calls that came back as an error, by its code."),
    counter("failures_total", &["tool", "rule"], "Calls that did not work, by what is known of such failures."),
    counter("deliveries_total", &["platform", "outcome"], "Messages handed to a platform, by what became of them."),
    counter("adapter_restarts_total", &["platform"], "Platforms that broke and were started again."),
    counter("progress_total", &["outcome"], "Lines of live progress, by what became of them."),
    counter("card_redraws_total", &["outcome"], "Cards that show something else by now, by what became of it."),
    gauge_of(
        "platform_last_heard_seconds",
        &["platform"],
        "When a platform last gave a sign of life, in seconds since 1970.",
    ),
    counter("plans_total", &["became", "risk"], "Plans, by the state that they came to."),
    counter("plans_lost_total", &[], "Steps that were not stored because somebody else had moved the plan."),
    counter("links_total", &["did"], "What was done with linked accounts and their codes."),
    counter("ledger_overtaken_total", &[], "Steps that were not stored because somebody else had changed the ledger."),
    counter("commits_failed_total", &[], "Attempts to store a step that failed."),
    counter("rows_broken_total", &["table"], "Stored rows that were read and are not what was written."),
    counter("grants_total", &["became"], "Permissions given beforehand, by what became of them."),
    counter("unasked_total", &["by"], "Plans that nobody was asked about, by what allowed them."),
    counter("verifications_total", &["outcome"], "Verifying reads after a change, by what they found."),
    counter("tokens_total", &["direction", "ground", "by"], "Tokens that were read and written, by whom and for whom."),
    counter("cost_micros_total", &["ground", "by"], "What tokens cost, in millionths of the configured currency."),
    counter("agentic_iterations_total", &["model", "tier"], "Questions to a model, by which."),
    counter(
        "phantom_detected_total",
        &["model", "tier", "claim"],
        "Answers of a model that nothing bore out, by what they claimed.",
    ),
    counter("model_failures_total", &["model", "tier"], "Questions that a model did not answer."),
    counter("model_requests_total", &["tier", "outcome"], "Calls to the model's server, by what became of them."),
    counter("model_retries_total", &["tier"], "Questions that were sent again to a model's server that was busy."),
    counter(
        "model_answers_total",
        &["tier", "form", "way"],
        "Whole answers of the model's server, by how they came and how calls were asked for.",
    ),
    counter(
        "model_fallbacks_total",
        &["tier", "to"],
        "Models that made no calls in the way in which they were asked, by how they are asked from then on.",
    ),
    timer("model_seconds", "Time of one call to the model's server."),
    timer("step_seconds", "Time of one step of the core."),
    timer("request_seconds", "Time from a signal's acceptance to the end of its request."),
];

/// Counts one event. Values of labels are cleaned. A name or label that is not in [`METRICS`] is a bug: it panics in a
/// debug build and is logged in a release build.
pub fn count(name: &'static str, labels: &[(&'static str, String)]) {
    add(name, labels, 1);
}

/// Counts so much at once. What is not in [`METRICS`] is a bug, as with [`count`].
pub fn add(name: &'static str, labels: &[(&'static str, String)], amount: u64) {
    let Some(labels) = checked(name, Kind::Counter, labels) else { return };
    ::metrics::counter!(format!("{PREFIX}{name}"), labels).increment(amount);
}

/// Records how long something took. A name that is not in [`METRICS`] is a bug, as with [`count`].
pub fn seconds(name: &'static str, took: Duration) {
    let Some(labels) = checked(name, Kind::Seconds, &[]) else { return };
    ::metrics::histogram!(format!("{PREFIX}{name}"), labels).record(took.as_secs_f64());
}

/// Sets how something stands. What is not in [`METRICS`] is a bug, as with [`count`].
pub fn gauge(name: &'static str, labels: &[(&'static str, String)], value: f64) {
    let Some(labels) = checked(name, Kind::Gauge, labels) else { return };
    ::metrics::gauge!(format!("{PREFIX}{name}"), labels).set(value);
}

fn checked(name: &'static str, kind: Kind, labels: &[(&'static str, String)]) -> Option<Vec<Label>> {
    let given = labels.iter().map(|(label, _)| *label);
    let known = METRICS
        .iter()
        .any(|metric| metric.name == name && metric.kind == kind && metric.labels.iter().copied().eq(given.clone()));
    if !known {
        let given: Vec<_> = given.collect();
        tracing::error!(name, ?given, "this metric is not in the table, so that it is not recorded");
        debug_assert!(known, "invariant: every metric is in the table, with its labels: {name} {given:?}");
        return None;
    }
    Some(labels.iter().map(|(label, value)| Label::new(*label, clean(value))).collect())
}

/// A label's value as a dashboard can take it (TEL-09): one word of at most 64 characters, never empty.
fn clean(value: &str) -> String {
    let spaced = value.chars().map(|c| if c.is_whitespace() { '_' } else { c });
    let word: String = spaced.filter(|c| !c.is_control()).take(LABEL_CHARS_MAX).collect();
    if word.is_empty() { "unknown".to_owned() } else { word }
}

/// Reads what was recorded.
#[derive(Clone, Debug)]
pub struct MetricsHandle(PrometheusHandle);

impl MetricsHandle {
    /// Everything recorded so far, in Prometheus' text form. No I/O.
    pub fn render(&self) -> String {
        self.0.render()
    }
}

/// Records metrics from now on, and listens where `metrics.listen` says so. Must be called inside the tokio runtime. Once it
/// has worked, a second call gives the same handle and listens on nothing more, because a process has one recorder.
pub fn metrics(config: &Metrics) -> Result<MetricsHandle, TelemetryError> {
    static HANDLE: OnceLock<PrometheusHandle> = OnceLock::new();
    if let Some(handle) = HANDLE.get() {
        return Ok(MetricsHandle(handle.clone()));
    }
    let handle = install(config)?;
    describe();
    Ok(MetricsHandle(HANDLE.get_or_init(|| handle).clone()))
}

fn install(config: &Metrics) -> Result<PrometheusHandle, TelemetryError> {
    let builder = PrometheusBuilder::new().set_buckets(BUCKETS).map_err(recorder_error)?;
    let recorder = match config.listen {
        None => {
            let recorder = builder.build_recorder();
            tokio::spawn(upkeep(recorder.handle()));
            recorder
        }
        Some(address) => {
            let listening = builder.with_http_listener(address).build();
            let (recorder, serve) = listening.map_err(|error| listen_error(address, error))?;
            tokio::spawn(async move {
                if serve.await.is_err() {
                    tracing::error!(%address, "the metrics endpoint ended; restart the bot to have it back");
                }
            });
            recorder
        }
    };
    let handle = recorder.handle();
    ::metrics::set_global_recorder(recorder).map_err(|error| TelemetryError::Recorder(error.to_string()))?;
    Ok(handle)
}

/// Without it, samples of histograms pile up until somebody renders.
async fn upkeep(handle: PrometheusHandle) {
    let mut tick = tokio::time::interval(UPKEEP);
    loop {
        tick.tick().await;
        handle.run_upkeep();
    }
}

fn listen_error(address: std::net::SocketAddr, error: BuildError) -> TelemetryError {
    match error {
        BuildError::FailedToCreateHTTPListener(problem) => TelemetryError::Listen { address, problem },
        other => recorder_error(other),
    }
}

#[expect(clippy::needless_pass_by_value, reason = "it is given to map_err")]
fn recorder_error(error: BuildError) -> TelemetryError {
    TelemetryError::Recorder(error.to_string())
}

fn describe() {
    for Metric { name, kind, about, .. } in METRICS {
        let name = format!("{PREFIX}{name}");
        match kind {
            Kind::Counter => ::metrics::describe_counter!(name, *about),
            Kind::Gauge => ::metrics::describe_gauge!(name, *about),
            Kind::Seconds => ::metrics::describe_histogram!(name, ::metrics::Unit::Seconds, *about),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn recorded(act: impl FnOnce()) -> String {
        let recorder = PrometheusBuilder::new().set_buckets(BUCKETS).expect("there are buckets").build_recorder();
        let handle = recorder.handle();
        ::metrics::with_local_recorder(&recorder, || {
            describe();
            act();
        });
        handle.run_upkeep();
        handle.render()
    }

    #[test]
    fn no_metric_names_a_person_a_thread_or_an_id() {
        for metric in METRICS {
            for label in metric.labels {
                let personal = ["user", "actor", "person", "thread", "room", "id"];
                let parts = label.split('_').find(|part| personal.contains(part));
                assert_eq!(parts, None, "{} has the label {label}", metric.name);
            }
        }
    }

    #[test]
    fn every_metric_is_recorded_and_described() {
        let text = recorded(|| {
            for metric in METRICS {
                let labels: Vec<_> = metric.labels.iter().map(|label| (*label, "x".to_owned())).collect();
                match metric.kind {
                    Kind::Counter => count(metric.name, &labels),
                    Kind::Seconds => seconds(metric.name, Duration::from_millis(3)),
                    Kind::Gauge => gauge(metric.name, &labels, 3.0),
                }
            }
        });
        for Metric { name, about, .. } in METRICS {
            assert!(about.ends_with('.') && about.split(' ').count() > 3, "{name} says nothing");
            assert!(text.contains(&format!("# HELP countersign_{name} {about}\n")), "{name} is not described:\n{text}");
        }
        assert!(text.contains("countersign_gate_block_total{gate=\"x\",code=\"x\",tool=\"x\"} 1\n"), "{text}");
        assert!(text.contains("countersign_step_seconds_bucket{le=\"0.005\"} 1\n"), "{text}");
        let names: std::collections::BTreeSet<_> = METRICS.iter().map(|metric| metric.name).collect();
        assert_eq!(names.len(), METRICS.len(), "a name stands twice in the table");
    }

    /// The shipped dashboard asks for nothing that is not recorded, and by no label that is not there.
    #[test]
    fn the_dashboard_names_only_what_is_recorded() {
        let dashboard = include_str!("../../config/dashboards/grafana.json");
        let dashboard: serde_json::Value = serde_json::from_str(dashboard).expect("it is JSON");
        let panels = dashboard["panels"].as_array().expect("it has panels");
        let targets: Vec<&serde_json::Value> =
            panels.iter().flat_map(|panel| panel["targets"].as_array().expect("a panel asks for something")).collect();
        assert!(panels.len() > 9 && targets.len() >= panels.len());
        for target in targets {
            let asks = target["expr"].as_str().expect("an expression");
            let of = asked_for(asks);
            assert!(!of.is_empty(), "{asks}");
            for label in labels_in(r"(?:by|ignoring) \(([^)]*)\)", asks) {
                let is_there = |metric: &&Metric| metric.labels.contains(&label.as_str());
                let is_there = of.iter().any(is_there) || (label == "le" && of.iter().all(|m| m.kind == Kind::Seconds));
                assert!(is_there, "no metric of `{asks}` has the label {label}");
            }
            let legend = target["legendFormat"].as_str().expect("a legend");
            for label in labels_in(r"\{\{(\w+)\}\}", legend) {
                assert!(asks.contains(&label), "the legend of `{asks}` names {label}");
            }
        }
    }

    /// The metrics that an expression names, each with the labels that it is narrowed down by.
    fn asked_for(asks: &str) -> Vec<&'static Metric> {
        let named = regex::Regex::new(r"countersign_(\w+)(?:\{(\w+)=)?").expect("sound");
        let found = named.captures_iter(asks).map(|found| {
            let name = found.get(1).map_or("", |name| name.as_str());
            let (name, kind) = name.strip_suffix("_bucket").map_or((name, None), |name| (name, Some(Kind::Seconds)));
            let metric =
                METRICS.iter().find(|metric| metric.name == name && kind.is_none_or(|kind| metric.kind == kind));
            let metric = metric.unwrap_or_else(|| panic!("no metric is called {name}: {asks}"));
            let by = found.get(2).map(|label| label.as_str());
            assert!(by.is_none_or(|label| metric.labels.contains(&label)), "{name} has no such label: {asks}");
            metric
        });
        found.collect()
    }

    fn labels_in(pattern: &str, text: &str) -> Vec<String> {
        let lists = regex::Regex::new(pattern).expect("sound");
        let lists = lists.captures_iter(text).filter_map(|list| list.get(1));
        lists.flat_map(|list| list.as_str().split(", ")).map(str::to_owned).collect()
    }

    #[test]
    fn values_of_labels_are_cleaned() {
        let cases = [
            ("", "unknown"),
            ("\u{1b}", "unknown"),
            ("two words\nand\ta tab", "two_words_and_a_tab"),
            ("red\u{1b}[31m", "red[31m"),
            ("docker", "docker"),
        ];
        for (value, cleaned) in cases {
            assert_eq!(clean(value), cleaned, "{value:?}");
        }
        assert_eq!(clean(&"ä".repeat(70)), "ä".repeat(64), "cut between characters, not bytes");
    }

    #[test]
    #[should_panic(expected = "every metric is in the table")]
    fn an_unknown_metric_is_a_bug() {
        count("surprises_total", &[]);
    }

    #[test]
    #[should_panic(expected = "every metric is in the table")]
    fn an_unknown_label_is_a_bug() {
        count("fsm_final_block_total", &[("user", "ann".to_owned())]);
    }

    #[tokio::test]
    async fn an_address_that_is_taken_is_named_with_its_key() {
        let taken = std::net::TcpListener::bind("127.0.0.1:0").expect("a free port");
        let address = taken.local_addr().expect("it is bound");
        let error =
            install(&Metrics { listen: Some(address), allow_remote: false }).expect_err("it is taken").to_string();
        assert!(error.starts_with(&format!("`metrics.listen`: cannot listen on {address}: ")), "{error}");
    }

    #[tokio::test]
    async fn the_endpoint_shows_what_was_counted() {
        use tokio::io::{AsyncReadExt, AsyncWriteExt};
        let free = std::net::TcpListener::bind("127.0.0.1:0").and_then(|port| port.local_addr()).expect("a free port");
        let handle = metrics(&Metrics { listen: Some(free), allow_remote: false }).expect("nobody else records");
        count("stray_answers_total", &[]);
        let again = metrics(&Metrics::default()).expect("the same one");
        assert!(again.render().contains("countersign_stray_answers_total 1\n"), "{}", handle.render());
        let mut stream = tokio::net::TcpStream::connect(free).await.expect("it listens");
        let request = b"GET /metrics HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n";
        stream.write_all(request).await.expect("it is open");
        let mut answer = String::new();
        stream.read_to_string(&mut answer).await.expect("it answers and closes");
        assert!(answer.contains("countersign_stray_answers_total 1\n"), "{answer}");
        assert!(answer.contains("# HELP countersign_stray_answers_total Tool answers"), "{answer}");
    }
}
