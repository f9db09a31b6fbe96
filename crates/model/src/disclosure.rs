//! The disclosure of a command's output: which request is sent when (S-043 to S-048).
//!
//! A pure state machine, driven by the component that shows the output. It alone decides about
//! requests, so a collapsed disclosure cannot send one. Time is the driver's: it runs a timer when
//! told to and reports back.

/// Between two polls of a running command, in milliseconds.
pub const POLL_MS: u32 = 1000;
/// The longest pause after failures, in milliseconds.
pub const MAX_BACKOFF_MS: u32 = 5000;

/// What happened.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Event {
    /// The person opened it; `terminal`: the list already says that the command has ended.
    Opened {
        /// The command has ended.
        terminal: bool,
    },
    /// The person closed it, or its row is gone.
    Closed,
    /// The request of this generation was answered.
    Settled {
        /// Which request.
        generation: u32,
        /// How.
        answer: Answer,
    },
    /// The timer of this generation ran out.
    Tick {
        /// Which timer.
        generation: u32,
    },
    /// The list says that the command has ended.
    TurnedTerminal,
    /// The person asks to try again now.
    Retry,
}

/// How a request was answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Answer {
    /// With a snapshot; `terminal`: the snapshot says that the command has ended.
    Snapshot {
        /// The command has ended.
        terminal: bool,
    },
    /// There is no such output: asking again is of no use.
    Gone,
    /// Not at all, or not in a way that can be read.
    Failed,
}

/// What the driver has to do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Effect {
    /// Send a request and report it as [`Event::Settled`] with this generation.
    Fetch {
        /// Its generation.
        generation: u32,
    },
    /// Abort the request that is under way.
    Abort,
    /// Report [`Event::Tick`] with this generation after this time.
    Schedule {
        /// Milliseconds.
        delay_ms: u32,
        /// Its generation.
        generation: u32,
    },
}

/// The state of one disclosure.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Disclosure {
    /// Counts requests and timers; an answer of an older one is ignored.
    generation: u32,
    failures: u32,
    /// The list says that the command has ended.
    terminal: bool,
    phase: Phase,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
enum Phase {
    #[default]
    Closed,
    Fetching,
    Waiting,
    /// Open, and nothing more will be asked.
    Done,
}

impl Disclosure {
    /// Whether it is open.
    pub const fn is_open(&self) -> bool {
        !matches!(self.phase, Phase::Closed)
    }

    /// Whether a request of this generation may still change what is shown.
    pub const fn accepts(&self, generation: u32) -> bool {
        matches!(self.phase, Phase::Fetching) && self.generation == generation
    }

    /// Takes an event and says what is to be done, in this order.
    pub fn on(&mut self, event: Event) -> Vec<Effect> {
        match event {
            Event::Opened { terminal } if !self.is_open() => {
                self.terminal = terminal;
                self.failures = 0;
                vec![self.fetch()]
            }
            Event::Closed if self.is_open() => {
                let effects = self.abort();
                self.generation = self.generation.wrapping_add(1);
                self.phase = Phase::Closed;
                effects
            }
            Event::Settled { generation, answer } if self.accepts(generation) => {
                self.settled(answer)
            }
            Event::Tick { generation } if self.is_waiting_for(generation) => vec![self.fetch()],
            Event::TurnedTerminal if self.is_open() && !self.terminal => self.turned_terminal(),
            Event::Retry if self.is_open() && self.phase != Phase::Fetching => vec![self.fetch()],
            _ => Vec::new(),
        }
    }

    fn is_waiting_for(&self, generation: u32) -> bool {
        self.phase == Phase::Waiting && self.generation == generation
    }

    fn fetch(&mut self) -> Effect {
        self.generation = self.generation.wrapping_add(1);
        self.phase = Phase::Fetching;
        Effect::Fetch { generation: self.generation }
    }

    fn abort(&self) -> Vec<Effect> {
        if self.phase == Phase::Fetching { vec![Effect::Abort] } else { Vec::new() }
    }

    fn settled(&mut self, answer: Answer) -> Vec<Effect> {
        match answer {
            Answer::Snapshot { terminal } => {
                self.failures = 0;
                if terminal || self.terminal {
                    self.phase = Phase::Done;
                    return Vec::new();
                }
                self.schedule(POLL_MS)
            }
            Answer::Gone => {
                self.phase = Phase::Done;
                Vec::new()
            }
            Answer::Failed => {
                let delay_ms =
                    POLL_MS.saturating_mul(1 << self.failures.min(8)).min(MAX_BACKOFF_MS);
                self.failures = self.failures.saturating_add(1);
                self.schedule(delay_ms)
            }
        }
    }

    fn schedule(&mut self, delay_ms: u32) -> Vec<Effect> {
        self.generation = self.generation.wrapping_add(1);
        self.phase = Phase::Waiting;
        vec![Effect::Schedule { delay_ms, generation: self.generation }]
    }

    fn turned_terminal(&mut self) -> Vec<Effect> {
        self.terminal = true;
        if self.phase == Phase::Done {
            return Vec::new();
        }
        let mut effects = self.abort();
        self.failures = 0;
        effects.push(self.fetch());
        effects
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const RUNNING: Answer = Answer::Snapshot { terminal: false };
    const ENDED: Answer = Answer::Snapshot { terminal: true };

    fn generation(effects: &[Effect]) -> u32 {
        match effects.last() {
            Some(Effect::Fetch { generation } | Effect::Schedule { generation, .. }) => *generation,
            other => panic!("no generation in {other:?}"),
        }
    }

    fn settle(disclosure: &mut Disclosure, effects: &[Effect], answer: Answer) -> Vec<Effect> {
        disclosure.on(Event::Settled { generation: generation(effects), answer })
    }

    #[test]
    fn s_043_opening_sends_one_request_at_once_and_closed_sends_none() {
        let mut disclosure = Disclosure::default();
        for event in
            [Event::TurnedTerminal, Event::Retry, Event::Tick { generation: 0 }, Event::Closed]
        {
            assert_eq!(disclosure.on(event), []);
        }
        let effects = disclosure.on(Event::Opened { terminal: false });
        assert!(matches!(effects[..], [Effect::Fetch { .. }]));
        assert_eq!(disclosure.on(Event::Opened { terminal: false }), []);
    }

    #[test]
    fn s_043_a_finished_command_is_fetched_exactly_once() {
        let mut disclosure = Disclosure::default();
        let effects = disclosure.on(Event::Opened { terminal: true });
        assert_eq!(settle(&mut disclosure, &effects, ENDED), []);
        assert_eq!(disclosure.on(Event::TurnedTerminal), []);
    }

    #[test]
    fn s_044_the_next_poll_comes_a_second_after_the_last_settled() {
        let mut disclosure = Disclosure::default();
        let mut effects = disclosure.on(Event::Opened { terminal: false });
        for _ in 0..3 {
            effects = settle(&mut disclosure, &effects, RUNNING);
            assert!(matches!(effects[..], [Effect::Schedule { delay_ms: 1000, .. }]));
            effects = disclosure.on(Event::Tick { generation: generation(&effects) });
            assert!(matches!(effects[..], [Effect::Fetch { .. }]));
        }
    }

    #[test]
    fn s_044_failures_back_off_and_a_success_restores_one_second() {
        let mut disclosure = Disclosure::default();
        let mut effects = disclosure.on(Event::Opened { terminal: false });
        let mut delays = Vec::new();
        for answer in [Answer::Failed; 5].into_iter().chain([RUNNING, Answer::Failed]) {
            effects = settle(&mut disclosure, &effects, answer);
            let [Effect::Schedule { delay_ms, .. }] = effects[..] else { panic!("{effects:?}") };
            delays.push(delay_ms);
            effects = disclosure.on(Event::Tick { generation: generation(&effects) });
        }
        assert_eq!(delays, [1000, 2000, 4000, 5000, 5000, 1000, 1000]);
    }

    #[test]
    fn s_045_turning_terminal_aborts_the_poll_and_fetches_one_final_snapshot() {
        let mut disclosure = Disclosure::default();
        let poll = disclosure.on(Event::Opened { terminal: false });
        let last = disclosure.on(Event::TurnedTerminal);
        assert!(matches!(last[..], [Effect::Abort, Effect::Fetch { .. }]));
        assert_eq!(settle(&mut disclosure, &poll, RUNNING), [], "the aborted poll is ignored");
        assert_eq!(settle(&mut disclosure, &last, RUNNING), [], "whatever the last one says");
    }

    #[test]
    fn s_046_closing_aborts_and_ignores_what_comes_later() {
        let mut disclosure = Disclosure::default();
        let effects = disclosure.on(Event::Opened { terminal: false });
        assert_eq!(disclosure.on(Event::Closed), [Effect::Abort]);
        assert!(!disclosure.accepts(generation(&effects)));
        assert_eq!(settle(&mut disclosure, &effects, RUNNING), []);

        let effects = disclosure.on(Event::Opened { terminal: false });
        let timer = settle(&mut disclosure, &effects, RUNNING);
        assert_eq!(disclosure.on(Event::Closed), [], "nothing is under way");
        assert_eq!(disclosure.on(Event::Tick { generation: generation(&timer) }), []);
    }

    #[test]
    fn s_047_a_finished_command_is_asked_again_until_it_answers_and_404_ends_it() {
        let mut disclosure = Disclosure::default();
        let effects = disclosure.on(Event::Opened { terminal: true });
        let timer = settle(&mut disclosure, &effects, Answer::Failed);
        assert!(matches!(timer[..], [Effect::Schedule { delay_ms: 1000, .. }]));
        let again = disclosure.on(Event::Retry);
        assert!(matches!(again[..], [Effect::Fetch { .. }]));
        assert_eq!(disclosure.on(Event::Tick { generation: generation(&timer) }), []);
        assert_eq!(settle(&mut disclosure, &again, Answer::Gone), []);
        assert!(disclosure.is_open());
    }
}
