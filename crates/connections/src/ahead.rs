//! Segments that a thread of its own reads and decodes, while others are taken.

use std::sync::mpsc::{channel, sync_channel};

use anyhow::{Result, anyhow};
use capture::{Capture, Segment};

/// Segments that change hands at once: few enough to stay in cache.
const BATCH: usize = 512;
/// Batches that may wait to be taken.
const WAITING: usize = 16;

/// Call `take` with all segments of a capture in their order, some at a time, and with the frames so far. Returns the capture,
/// read to its end.
///
/// # Errors
/// A file cannot be read, or `take` fails.
pub(crate) fn each(mut capture: Capture, mut take: impl FnMut(&mut [Segment], u64) -> Result<()>) -> Result<Capture> {
    std::thread::scope(|scope| {
        let (full, batches) = sync_channel::<(Vec<Segment>, usize, u64)>(WAITING);
        let (empty, spare) = channel::<Vec<Segment>>();
        let reader = scope.spawn(move || -> Result<Capture> {
            loop {
                // Segments are written where they stay, over those of before.
                let mut batch = spare.try_recv().unwrap_or_else(|_| vec![Segment::default(); BATCH]);
                let (mut count, mut ended) = (0, Ok(false));
                for segment in &mut batch {
                    match capture.next_into(segment) {
                        Ok(true) => count += 1,
                        Ok(false) => {
                            ended = Ok(true);
                            break;
                        }
                        Err(error) => {
                            ended = Err(error);
                            break;
                        }
                    }
                }
                // Who has failed takes no more.
                let is_over = full.send((batch, count, capture.notes().frames)).is_err() || ended?;
                if is_over {
                    return Ok(capture);
                }
            }
        });
        let mut taken = Ok(());
        for (mut batch, count, frames) in &batches {
            taken = take(&mut batch[..count], frames);
            if taken.is_err() {
                break;
            }
            let _ = empty.send(batch);
        }
        drop(batches);
        let read = reader.join().map_err(|_| anyhow!("the reading thread panicked"))?;
        taken.and(read)
    })
}
