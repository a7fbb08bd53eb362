// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
//! A plain model of what a timer must remember: the requests without an answer in a list, each found by a search through
//! all. Every call is compared with it: its result, the sums, which wait ends first, the bounds of each wait, which calls
//! may move the end of another request's wait and to where, that an error leaves every byte of the timer unchanged, and
//! that a clone does the same from then on.
use tcplearn::{Again, Counts, RetryError, RetryTimer, Settings};

pub const LATEST_US: i64 = 1 << 62;
const AT_ONCE: usize = 64;
const BYTES: usize = size_of::<RetryTimer>();
const UNTOUCHED: [u64; 8] = [0x5afe_5afe_5afe_5afe; 8];

/// What differs, in words.
pub type Same = Result<(), String>;

macro_rules! same {
    ($got:expr, $want:expr, $($what:tt)*) => {
        match ($got, $want) {
            (got, want) if got == want => Ok(()),
            (got, want) => Err(format!("{}: {got:?}, not {want:?}", format_args!($($what)*))),
        }
    };
}

/// A timer between words that nothing may write.
#[repr(C)]
#[derive(Clone)]
struct Guarded {
    before: [u64; 8],
    timer: RetryTimer,
    after: [u64; 8],
}

fn guarded(timer: RetryTimer) -> Box<Guarded> {
    Box::new(Guarded { before: UNTOUCHED, timer, after: UNTOUCHED })
}

fn bytes(timer: &RetryTimer) -> [u8; BYTES] {
    // SAFETY: a timer is an array of u64, all of which are set, and any byte is a u8
    unsafe { std::ptr::from_ref(timer).cast::<[u8; BYTES]>().read() }
}

struct Request {
    id: u64,
    due_us: i64,
    resends: u32,
}

pub struct Modelled {
    of: Box<Guarded>,
    twin: Box<Guarded>,
    how: Settings,
    out: Vec<Request>,
    now_us: i64,
    counts: Counts,
    /// Calls of the timer so far that may change it, without those of its clone.
    pub calls: u64,
}

/// Returns whether `RetryTimer::new` must accept the settings (core/include/tcplearn/retry.h).
pub fn in_range(how: &Settings) -> bool {
    let waits = 1..=1i64 << 32;
    (how.rate_ppm == 0 || (100..=500_000).contains(&how.rate_ppm))
        && (0..=1 << 32).contains(&how.price_us)
        && how.budget <= 100_000
        && [how.first_wait_us, how.min_wait_us, how.max_wait_us].iter().all(|us| waits.contains(us))
        && how.min_wait_us <= how.max_wait_us
}

/// Makes a timer, of which it is not known yet whether the settings are in range.
pub fn made(how: Settings) -> Result<Option<Modelled>, String> {
    let made = RetryTimer::new(how);
    same!(made.as_ref().err(), (!in_range(&how)).then_some(&RetryError::Settings), "{how:?}")?;
    Ok(made.ok().map(|timer| Modelled {
        twin: guarded(timer.clone()),
        of: guarded(timer),
        how,
        out: Vec::new(),
        now_us: -LATEST_US,
        counts: Counts::default(),
        calls: 1,
    }))
}

impl Modelled {
    pub fn now_us(&self) -> i64 {
        self.now_us
    }

    pub fn deadline(&self) -> Option<i64> {
        self.of.timer.deadline()
    }

    /// Returns the number of a request that is out, one of those that are by `choice`.
    pub fn some_id(&self, choice: u64) -> Option<u64> {
        let count = self.out.len() as u64;
        self.out.get(usize::try_from(choice.checked_rem(count)?).unwrap()).map(|q| q.id)
    }

    pub fn resends(&self, id: u64) -> Option<u32> {
        self.place(id).map(|k| self.out[k].resends)
    }

    fn place(&self, id: u64) -> Option<usize> {
        self.out.iter().position(|q| q.id == id)
    }

    fn time(&self, now_us: i64) -> Result<(), RetryError> {
        if now_us < self.now_us || now_us > LATEST_US {
            Err(RetryError::Time)
        } else {
            Ok(())
        }
    }

    /// Makes a call, of the clone too, and compares the result. Returns it if it is no error.
    fn call<T: PartialEq + std::fmt::Debug>(
        &mut self,
        make: impl Fn(&mut RetryTimer) -> Result<T, RetryError>,
        want: Result<T, RetryError>,
        what: std::fmt::Arguments<'_>,
    ) -> Result<Option<T>, String> {
        self.calls += 1;
        let before = want.is_err().then(|| bytes(&self.of.timer));
        let (got, twin) = (make(&mut self.of.timer), make(&mut self.twin.timer));
        same!(&got, &want, "{what}")?;
        same!(&twin, &want, "{what}, of a clone")?;
        if before.is_some_and(|before| before != bytes(&self.of.timer)) {
            return Err(format!("{what}: {got:?} has changed the timer"));
        }
        Ok(got.ok())
    }

    /// Takes over where waits end after a call that may move them: a resend may hold other requests for longer, and an
    /// answer lets those that were held be sent again at the end of their own waits or shortly, but not before now.
    fn moved_waits(&mut self, armed: Option<usize>, by_answer: bool) -> Same {
        for (k, q) in self.out.iter_mut().enumerate() {
            let due_us = self.of.timer.deadline_of(q.id).ok_or_else(|| format!("request {} has no wait", q.id))?;
            if Some(k) == armed || due_us == q.due_us {
                continue;
            }
            let later = due_us > q.due_us;
            let within = (0..=self.how.max_wait_us).contains(&due_us.saturating_sub(self.now_us));
            let overdue = due_us <= self.now_us && q.due_us <= self.now_us; // before and after the call
            if !overdue && (due_us < self.now_us || (later && !within) || (!later && !by_answer)) {
                return Err(format!("the wait of {} moved from {} to {due_us} at {}", q.id, q.due_us, self.now_us));
            }
            q.due_us = due_us;
        }
        Ok(())
    }

    /// Compares the sums and the waits, of which that of the request at `armed` has just begun.
    fn compare(&mut self, armed: Option<usize>) -> Same {
        if let Some(k) = armed {
            let id = self.out[k].id;
            let due_us = self.of.timer.deadline_of(id).ok_or_else(|| format!("request {id} has no wait"))?;
            let wait_us = due_us.wrapping_sub(self.now_us);
            if wait_us < self.how.min_wait_us || wait_us > self.how.max_wait_us {
                return Err(format!("a wait of {wait_us} us with {:?}", self.how));
            }
            self.out[k].due_us = due_us;
        }
        for q in &self.out {
            same!(self.of.timer.deadline_of(q.id), Some(q.due_us), "deadline_of({})", q.id)?;
        }
        same!(self.deadline(), self.out.iter().map(|q| q.due_us).min(), "deadline()")?;
        same!(self.of.timer.counts(), self.counts, "counts()")?;
        Ok(())
    }

    pub fn sent(&mut self, id: u64, now_us: i64) -> Same {
        let want = self.time(now_us).and_then(|()| match self.place(id) {
            Some(_) => Err(RetryError::Twice),
            None if self.out.len() == AT_ONCE => Err(RetryError::Full),
            None => Ok(()),
        });
        let done = self.call(|t| t.sent(id, now_us), want, format_args!("sent({id}, {now_us})"))?;
        if done.is_none() {
            return Ok(());
        }
        self.now_us = now_us;
        self.counts.requests += 1;
        self.out.push(Request { id, due_us: 0, resends: 0 });
        self.compare(Some(self.out.len() - 1))
    }

    /// Returns whether a request was due.
    pub fn fired(&mut self, now_us: i64) -> Result<bool, String> {
        // of two waits that end together, either may come first
        let first = self.deadline();
        let id = self.of.timer.clone().fired(now_us).ok().flatten().map(|again| again.id);
        let want = self.time(now_us).map(|()| match id.and_then(|id| self.place(id)) {
            Some(k) if Some(self.out[k].due_us) == first && self.out[k].due_us <= now_us => {
                Some(Again { id: self.out[k].id, copy: self.out[k].resends + 1 })
            }
            _ => None,
        });
        let due = first.is_some_and(|due_us| due_us <= now_us) && self.time(now_us).is_ok();
        same!(
            id.is_some(),
            due,
            "whether a request is due at {now_us}, and the first wait ends at {first:?}"
        )?;
        let done = self.call(|t| t.fired(now_us), want, format_args!("fired({now_us})"))?;
        let Some(again) = done else { return Ok(false) };
        self.now_us = now_us;
        let armed = again.map(|Again { id, copy }| {
            let k = self.place(id).expect("it was compared");
            self.out[k].resends = copy;
            self.counts.resends += 1;
            k
        });
        self.moved_waits(armed, false)?;
        self.compare(armed)?;
        Ok(armed.is_some())
    }

    pub fn answered(&mut self, id: u64, copy: Option<u32>, now_us: i64) -> Same {
        let place = self.place(id);
        let resends = place.map_or(0, |k| self.out[k].resends);
        let want = match (self.time(now_us), copy) {
            (_, Some(u32::MAX)) => Err(RetryError::Copy), // in C it would mean that the copy is not known
            (Err(error), _) => Err(error),
            _ if place.is_none() => Err(RetryError::Unknown),
            (_, Some(copy)) if copy > resends => Err(RetryError::Copy),
            _ => Ok(()),
        };
        let make = |t: &mut RetryTimer| t.answered(id, copy, now_us);
        if self.call(make, want, format_args!("answered({id}, {copy:?}, {now_us})"))?.is_none() {
            return Ok(());
        }
        self.now_us = now_us;
        self.counts.answers += 1;
        let guess = self.of.timer.counts().needless - self.counts.needless;
        self.counts.needless += match copy {
            Some(copy) => u64::from(resends - copy),
            // an early answer after the only resend may be taken for one of the first transmission
            None => guess.min(u64::from(resends == 1)),
        };
        self.counts.unclear += u64::from(copy.is_none() && resends > 0);
        self.out.swap_remove(place.expect("it was compared"));
        self.moved_waits(None, true)?;
        self.compare(None)
    }

    pub fn cancelled(&mut self, id: u64) -> Same {
        let place = self.place(id);
        let want = place.map(drop).ok_or(RetryError::Unknown);
        if self.call(|t| t.cancelled(id), want, format_args!("cancelled({id})"))?.is_none() {
            return Ok(());
        }
        self.out.swap_remove(place.expect("it was compared"));
        self.compare(None)
    }

    /// Inherits, which a timer refuses that has sent.
    pub fn inherit(&mut self) -> Same {
        let earlier = self.of.timer.clone();
        let want = if self.counts.requests > 0 { Err(RetryError::Begun) } else { Ok(()) };
        self.call(|t| t.inherit(&earlier), want, format_args!("inherit()")).map(drop)
    }

    /// Replaces the timer by one that inherits from it.
    pub fn succeeded(&mut self, how: Settings) -> Same {
        let Some(mut later) = made(how)? else { return Ok(()) };
        later.calls = self.calls + 1;
        let earlier = self.of.timer.clone();
        later.call(|t| t.inherit(&earlier), Ok(()), format_args!("inherit() of a new timer"))?;
        later.compare(None)?;
        self.whole()?;
        *self = later;
        Ok(())
    }

    /// Goes on with a clone, elsewhere in memory; the old one is compared to its end.
    pub fn moved(&mut self) -> Same {
        self.whole()?;
        let next = guarded(self.of.timer.clone());
        self.twin = std::mem::replace(&mut self.of, next);
        Ok(())
    }

    /// Compares every byte of the two timers, and what is beside them in memory.
    pub fn whole(&self) -> Same {
        for of in [&self.of, &self.twin] {
            same!([of.before, of.after], [UNTOUCHED; 2], "what is beside the timer in memory")?;
        }
        let same = bytes(&self.of.timer) == bytes(&self.twin.timer);
        if same {
            Ok(())
        } else {
            Err("a clone has another state after the same calls".into())
        }
    }
}
