//! A session on paper: what every thread was told, and when, is recorded as JSON lines; a recording is played through the
//! real engine again, and every decision comes out as JSON lines. The format is described in `README.md` beside this
//! file. Recording changes nothing, and playing runs no tool and speaks to nobody.

mod decisions;
mod format;
mod play;
mod record;

pub use format::{Header, Line};
pub use play::{PlayError, header, play};
pub use record::Recorder;
