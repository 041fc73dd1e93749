//! A platform for tests that can do everything the seam knows: it hears what a test tells it, touches included, breaks when
//! it is told to, and writes down whatever it is given.

use countersign_core::port::{Condition, Editor, Outgoing, Pace, Touch};

use super::*;

/// What it is told.
pub(super) enum Order {
    Say(Box<Signal>),
    Touch(Box<Touch>),
    Report(Condition),
    End(Ended),
    Panic,
}

/// What it was given.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Seen {
    Heard,
    Delivered { id: String, message: Outgoing, anchor: Option<EventId>, parts: Vec<EventId> },
    Edited { id: String, message: Outgoing, parts: Vec<EventId> },
    TakenBack(Vec<EventId>),
    Answered(SignalId),
}

/// How it behaves.
#[derive(Default)]
pub(super) struct Script {
    pub edits: bool,
    pub pace: Pace,
    pub deliveries: VecDeque<Delivery>,
    pub edited: VecDeque<Delivery>,
    /// The time to decide a plan.
    pub expires_ms: Option<u64>,
    /// Until this, the next message is out and nobody knows what it is called.
    pub hold: Option<Arc<Notify>>,
}

pub(super) struct Stage {
    name: &'static str,
    orders: tokio::sync::Mutex<mpsc::Receiver<Order>>,
    admitted: mpsc::Sender<Admission>,
    seen: mpsc::Sender<Seen>,
    script: Arc<Mutex<Script>>,
    sent: Mutex<u32>,
}

/// The test's end of it.
pub(super) struct Ends {
    pub orders: mpsc::Sender<Order>,
    pub admitted: mpsc::Receiver<Admission>,
    pub seen: mpsc::Receiver<Seen>,
    pub script: Arc<Mutex<Script>>,
}

impl Stage {
    pub(super) fn new(name: &'static str, script: Script) -> (Arc<Self>, Ends) {
        let (orders, to_hear) = mpsc::channel(100);
        let (admitting, admitted) = mpsc::channel(100);
        let (seeing, seen) = mpsc::channel(1000);
        let script = Arc::new(Mutex::new(script));
        let orders_of = tokio::sync::Mutex::new(to_hear);
        let (told, sent) = (Arc::clone(&script), Mutex::default());
        let stage = Self { name, orders: orders_of, admitted: admitting, seen: seeing, script: told, sent };
        (Arc::new(stage), Ends { orders, admitted, seen, script })
    }

    fn script(&self) -> MutexGuard<'_, Script> {
        self.script.lock().expect("no test panics here")
    }

    /// Ids that no other message of this platform has.
    fn sent(&self) -> Vec<EventId> {
        let mut sent = self.sent.lock().expect("no test panics here");
        *sent += 1;
        vec![EventId::new(format!("{}-m{}", self.name, *sent))]
    }

    fn saw(&self, seen: Seen) {
        // A test that has seen enough may be over.
        let _nobody_looks = self.seen.try_send(seen);
    }
}

impl Adapter for Stage {
    fn platform(&self) -> Platform {
        Platform::new(self.name)
    }

    fn capabilities(&self, _: &ThreadKey) -> Capabilities {
        Capabilities { text_chars_max: 1000, edits: self.script().edits, ..Capabilities::default() }
    }

    fn pace(&self, _: &ThreadKey) -> Pace {
        self.script().pace
    }

    fn hear<'a>(&'a self, ingress: &'a dyn Ingress, mut stop: BoxFuture<'a, ()>) -> BoxFuture<'a, Ended> {
        self.saw(Seen::Heard);
        Box::pin(async move {
            let mut orders = self.orders.lock().await;
            loop {
                let order = tokio::select! {
                    order = orders.recv() => order,
                    () = &mut stop => return Ended::Stopped,
                };
                let admission = match order {
                    Some(Order::Say(signal)) => ingress.accept(*signal).await,
                    Some(Order::Touch(touch)) => ingress.touch(*touch).await,
                    Some(Order::Report(condition)) => {
                        ingress.report(condition);
                        continue;
                    }
                    Some(Order::End(ended)) => return ended,
                    Some(Order::Panic) => panic!("planted"),
                    None => return Ended::InputOver,
                };
                self.admitted.send(admission.expect("the database works")).await.expect("the test listens");
            }
        })
    }

    fn deliver<'a>(&'a self, parcel: Parcel<'a>) -> BoxFuture<'a, Delivery> {
        Box::pin(async move {
            let scripted = self.script().deliveries.pop_front();
            let delivery = scripted.unwrap_or_else(|| Delivery::Sent(self.sent()));
            let parts = if let Delivery::Sent(parts) = &delivery { parts.clone() } else { Vec::new() };
            let (id, message) = (parcel.id.to_owned(), parcel.message.get().clone());
            let hold = self.script().hold.take();
            self.saw(Seen::Delivered { id, message, anchor: parcel.anchor.cloned(), parts });
            if let Some(hold) = hold {
                hold.notified().await;
            }
            delivery
        })
    }

    fn editor(&self) -> Option<&dyn Editor> {
        self.script().edits.then_some(self as &dyn Editor)
    }

    fn answered(&self, signal: &SignalId) {
        self.saw(Seen::Answered(signal.clone()));
    }
}

impl Editor for Stage {
    fn edit<'a>(&'a self, parts: &'a [EventId], parcel: Parcel<'a>) -> BoxFuture<'a, Delivery> {
        Box::pin(async move {
            let scripted = self.script().edited.pop_front();
            let (id, message) = (parcel.id.to_owned(), parcel.message.get().clone());
            self.saw(Seen::Edited { id, message, parts: parts.to_vec() });
            scripted.unwrap_or(Delivery::Sent(parts.to_vec()))
        })
    }

    fn retract<'a>(&'a self, _: &'a ThreadKey, parts: &'a [EventId]) -> BoxFuture<'a, Delivery> {
        self.saw(Seen::TakenBack(parts.to_vec()));
        Box::pin(async { Delivery::Sent(Vec::new()) })
    }
}

/// An engine with one such platform, or several.
pub(super) struct Play {
    pub engine: Arc<Engine>,
    pub go: Arc<Notify>,
    pub ends: Ends,
    pub told: mpsc::Receiver<String>,
    running: tokio::task::JoinHandle<anyhow::Result<Ran>>,
    stop: CancellationToken,
    directory: tempfile::TempDir,
    said: u32,
}

impl Play {
    pub(super) async fn start(script: Script) -> Self {
        Self::start_in(tempfile::tempdir().expect("a folder for the test"), script, Vec::new()).await
    }

    pub(super) async fn start_in(directory: tempfile::TempDir, script: Script, others: Vec<Arc<dyn Adapter>>) -> Self {
        let url = sqlite_url(&directory.path().join("engine.db")).expect("a plain path");
        let store = Store::open(&url, &Sealing::unguarded()).await.expect("a database");
        let counts = store.counts().await.expect("it counts");
        let said = u32::try_from(counts.open + counts.done).expect("a few");
        let people = Anybody { expires_ms: script.expires_ms };
        let (stage, ends) = Stage::new("test", script);
        let go = Arc::new(Notify::new());
        let tools = Arc::new(Lab { go: Arc::clone(&go), ..Lab::default() });
        let (telling, told) = mpsc::channel(1000);
        let tell = Box::new(move |line: &str| telling.try_send(line.to_owned()).unwrap_or_default());
        let adapters = others.into_iter().chain([stage as Arc<dyn Adapter>]).collect();
        let engine = Engine::new(Parts {
            store,
            world: world_of(people),
            tools,
            mind: None,
            adapters,
            queue_max: 10,
            delivery: crate::engine::A_DAY,
            watch: None,
            tell,
        });
        let (running, stop) = (Arc::clone(&engine), CancellationToken::new());
        let stopped = stop.clone();
        let running = tokio::spawn(async move { running.run(stopped).await });
        let mut play = Self { engine, go, ends, told, running, stop, directory, said };
        assert_eq!(play.next().await, Seen::Heard);
        play
    }

    pub(super) async fn next(&mut self) -> Seen {
        within(self.ends.seen.recv()).await.expect("it runs")
    }

    pub(super) async fn order(&self, order: Order) {
        self.ends.orders.send(order).await.expect("it hears");
    }

    pub(super) async fn hear(&mut self, signal: Signal) -> Admission {
        self.order(Order::Say(Box::new(signal))).await;
        within(self.ends.admitted.recv()).await.expect("it runs")
    }

    /// A message in this thread of the room `terminal`, and the signal that it became.
    pub(super) async fn say(&mut self, thread: &str, text: &str) -> SignalId {
        self.said += 1;
        let event = format!("e{}", self.said);
        match self.hear(Signal { thread: thread_key(thread), ..signal(&event, "ann", text) }).await {
            Admission::Accepted(id) => id,
            other => panic!("{other:?}"),
        }
    }

    pub(super) async fn touch(&mut self, touch: Touch) -> Admission {
        self.order(Order::Touch(Box::new(touch))).await;
        within(self.ends.admitted.recv()).await.expect("it runs")
    }

    /// The next message: its id, what it says and its parts.
    pub(super) async fn delivered(&mut self) -> (String, Outgoing, Vec<EventId>) {
        loop {
            match self.next().await {
                Seen::Delivered { id, message, parts, .. } => return (id, message, parts),
                Seen::Answered(_) => {}
                other => panic!("{other:?}"),
            }
        }
    }

    /// Waits until everything that was said about this signal is out.
    pub(super) async fn answered(&mut self, signal: &SignalId) {
        while self.next().await != Seen::Answered(signal.clone()) {}
    }

    /// Asks it to stop, and waits for that.
    pub(super) async fn stopped(self) -> (Ran, tempfile::TempDir) {
        self.stop.cancel();
        (within(self.running).await.expect("it does not panic").expect("it ends well"), self.directory)
    }

    /// Waits for it to end by itself.
    pub(super) async fn ended(self) -> Ran {
        drop(self.ends.orders);
        within(self.running).await.expect("it does not panic").expect("it ends well")
    }
}
