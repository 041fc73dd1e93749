//! The fake as a program for trying a bot out by hand: it says how to point a bot at it, then plays what is typed. What
//! each line means is in `commands`.

mod commands;

use std::process::ExitCode;

use clap::Parser;
use commands::{Done, Stage};
use countersign_discord_fake::Fake;
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader, Lines, Stdin, Stdout, stdin, stdout};

/// A fake of Discord's REST API and gateway on 127.0.0.1.
#[derive(Parser)]
#[command(name = "discord-fake")]
struct Options {
    /// The port to listen on; without it, the system chooses one.
    #[arg(long, default_value_t = 0)]
    port: u16,
}

#[tokio::main]
async fn main() -> ExitCode {
    let options = Options::parse();
    let fake = match Fake::start_on(options.port).await {
        Ok(fake) => fake,
        Err(why) => {
            eprintln!("discord-fake: port {} of 127.0.0.1 cannot be had: {why}", options.port);
            return ExitCode::FAILURE;
        }
    };
    match play(&Stage::new(fake), BufReader::new(stdin()).lines(), stdout()).await {
        Ok(()) => ExitCode::SUCCESS,
        Err(why) => {
            eprintln!("discord-fake: the terminal is gone: {why}");
            ExitCode::FAILURE
        }
    }
}

/// Reads a line, does it, says what came of it, until `quit` or the end of the input.
async fn play(stage: &Stage, mut lines: Lines<BufReader<Stdin>>, mut out: Stdout) -> std::io::Result<()> {
    out.write_all(stage.welcome().as_bytes()).await?;
    loop {
        out.write_all(b"> ").await?;
        out.flush().await?;
        let Some(line) = lines.next_line().await? else { return Ok(()) };
        match stage.perform(&line).await {
            Done::Said(text) if text.is_empty() => {}
            Done::Said(text) => out.write_all(format!("{text}\n").as_bytes()).await?,
            Done::Over => return Ok(()),
        }
    }
}
