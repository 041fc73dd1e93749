//! A thread that is told what a recording says instead of what happens: the same worker, with its queue, its calls and
//! its clock left out.

use std::sync::Arc;

use anyhow::Context;
use countersign_core::approval::Filed;
use countersign_core::effect::Input;
use countersign_core::signal::{Now, Payload, Signal, ThreadKey, Wall};

use super::Engine;
use super::spending::Why;
use super::worker::{Handle, Worker};
use crate::store::{PlanChange, StepRecord};

/// One thread of a recording.
pub struct Player {
    worker: Worker,
}

impl Player {
    /// A thread at rest.
    pub fn new(engine: &Arc<Engine>, thread: ThreadKey) -> Self {
        let (_, jobs) = Handle::new(1);
        Self { worker: Worker::new(Arc::clone(engine), thread, jobs) }
    }

    /// Tells the thread this, at this time. Does database I/O, as the engine does.
    pub async fn tell(&mut self, input: Input, now: Now) -> anyhow::Result<()> {
        match &input {
            Input::Signal(signal) | Input::Again(signal) | Input::Interrupted(signal) => {
                self.accept(signal, now).await?;
            }
            Input::Aside(signal) => {
                self.worker.engine.store.accept(signal).await.context("failed to store a signal")?;
                self.worker.set_aside((**signal).clone());
            }
            Input::Filed(filed) => self.keep(filed, now.wall).await?,
            Input::Answer { .. }
            | Input::Thought { .. }
            | Input::Used { .. }
            | Input::Deadline(_)
            | Input::Halt(_)
            | Input::Lost { .. }
            | Input::Held { .. }
            | Input::Overtaken(_) => {}
        }
        // What the store answers to a conflict stands in the recording as its next line.
        let _recorded = self.worker.step_at(input, now).await;
        self.worker.take_up_again();
        Ok(())
    }

    async fn accept(&mut self, signal: &Signal, now: Now) -> anyhow::Result<()> {
        // Already there where it was left by an earlier process of the same recording.
        self.worker.engine.store.accept(signal).await.context("failed to store a signal")?;
        self.worker.current = Some(signal.clone());
        self.worker.look_what_was_used(Why::Begins, now).await;
        Ok(())
    }

    /// Plans of an earlier session, which this store has not seen.
    async fn keep(&mut self, filed: &[Filed], at: Wall) -> anyhow::Result<()> {
        let store = &self.worker.engine.store;
        for one in filed {
            let plan = one.frozen.plan();
            if store.plan(&plan.id).await?.is_some() {
                continue;
            }
            let mut asked = super::plans::our_signal(&plan.thread, Payload::Due { plan: plan.id.clone() });
            asked.id = plan.signal.clone();
            store.accept(&asked).await?;
            let plans = vec![PlanChange::File(Box::new(one.clone()))];
            let signal = plan.signal.clone();
            let record = StepRecord {
                signal,
                at,
                audit: Vec::new(),
                posts: Vec::new(),
                redraws: Vec::new(),
                uses: Vec::new(),
                plans,
                ledger: Vec::new(),
                ending: None,
                kept: None,
            };
            store.commit(&record).await.context("failed to store a plan of before")?;
        }
        Ok(())
    }
}
