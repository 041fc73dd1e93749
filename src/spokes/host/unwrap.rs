//! Lines inside of lines: `sh -c 'a | b'` runs as `a | b`, so that what one command shows is masked before the next one reads
//! it. A shell of this machine that would run a pipeline by itself is refused.

use countersign_core::command::{Argument, CommandList, Feeding, Pipeline, Stage, Stream};

use super::answer::Trouble;
use super::this_host::ThisHost;

/// Programs whose line runs as well without them.
const SHELLS: [&str; 6] = ["sh", "bash", "dash", "ash", "ksh", "zsh"];

/// Returns the list with each shell's line in its place. Only of pipelines that are proven.
pub(super) fn without_shells(host: &ThisHost, list: CommandList) -> Result<CommandList, Trouble> {
    let is_alone = list.0.len() == 1;
    let mut all = Vec::new();
    for (joint, pipeline) in list.0 {
        if let ([stage], true) = (pipeline.as_slice(), is_alone)
            && let Some(inner) = line_of(stage).and_then(|line| host.commands.judge(line).run)
        {
            return without_shells(host, inner);
        }
        all.push((joint, spliced(host, pipeline)?));
    }
    Ok(CommandList(all))
}

/// The pipeline with those of its shells in it that run a single pipeline themselves.
fn spliced(host: &ThisHost, pipeline: Pipeline) -> Result<Pipeline, Trouble> {
    let mut all = Vec::new();
    for stage in pipeline {
        let inner = line_of(&stage).and_then(|line| host.commands.judge(line).run);
        match inner.map(|inner| inner.0) {
            Some(inner) if inner.len() == 1 => {
                for (_, inner) in inner {
                    all.extend(spliced(host, inner)?);
                }
            }
            Some(_) | None => {
                refuse_pipelines(&stage)?;
                all.push(stage);
            }
        }
    }
    Ok(all)
}

/// The line of a command that is nothing but a shell with it.
fn line_of(stage: &Stage) -> Option<&str> {
    let is_plain = stage.settings.is_empty()
        && stage.input == Feeding::Before
        && (stage.output, stage.errors) == (Stream::Output, Stream::Errors);
    match stage.words.as_slice() {
        [Argument::Literal(shell), Argument::Literal(option), Argument::Literal(line)] => {
            (is_plain && is_shell(shell) && option == "-c").then_some(line)
        }
        _ => None,
    }
}

fn is_shell(word: &str) -> bool {
    SHELLS.contains(&word.rsplit('/').next().unwrap_or(word))
}

/// Refuses a command that starts a shell here, which runs a pipeline. What runs elsewhere reads nothing of this machine.
fn refuse_pipelines(stage: &Stage) -> Result<(), Trouble> {
    let runs_here = stage.traits.reach.network.is_none() && stage.traits.reach.sockets.is_empty();
    if !(stage.traits.pipes_inside && runs_here) {
        return Ok(());
    }
    let message =
        "secrets are masked between commands, and not inside a shell's own line; write the commands without it";
    Err(Trouble::forbidden(message))
}
