//! A small seeded generator (splitmix64), so that a run is the same everywhere and for ever.

/// The generator.
#[derive(Clone)]
pub struct Random(u64);

impl Random {
    /// The stream of `seed`; `name` keeps families apart.
    pub fn new(name: &str, seed: u64) -> Self {
        let mut state = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) ^ 0xD1B5_4A32_D192_ED03;
        for byte in name.bytes() {
            state = (state ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01B3);
        }
        let mut random = Self(state);
        random.next();
        random
    }

    /// The next 64 bits.
    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut bits = self.0;
        bits = (bits ^ (bits >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        bits = (bits ^ (bits >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        bits ^ (bits >> 31)
    }

    /// A number from `low` to `high`, both included.
    pub fn between(&mut self, low: usize, high: usize) -> usize {
        let span = high.saturating_sub(low) as u64 + 1;
        low + usize::try_from(self.next() % span).unwrap_or(0)
    }

    /// Whether something of this probability happens.
    pub fn chance(&mut self, probability: f64) -> bool {
        ((self.next() >> 11) as f64) < probability * (1_u64 << 53) as f64
    }

    /// One of `items`.
    pub fn pick<'a, T>(&mut self, items: &'a [T]) -> &'a T {
        &items[self.between(0, items.len() - 1)]
    }

    /// An index below `len`, small ones more often: people and agents come back to the same files.
    pub fn skewed(&mut self, len: usize) -> usize {
        let first = self.between(0, len - 1);
        first.min(self.between(0, len - 1))
    }

    /// Puts `items` into a random order.
    pub fn shuffle<T>(&mut self, items: &mut [T]) {
        for at in (1..items.len()).rev() {
            items.swap(at, self.between(0, at));
        }
    }

    /// Hexadecimal digits.
    pub fn hex(&mut self, digits: usize) -> String {
        (0..digits).map(|_| char::from(b"0123456789abcdef"[self.between(0, 15)])).collect()
    }

    /// An identifier of one to three words.
    pub fn name(&mut self) -> String {
        let words: Vec<&str> = (0..self.between(1, 3)).map(|_| *self.pick(&WORDS)).collect();
        words.join("_")
    }

    /// A sentence.
    pub fn sentence(&mut self) -> String {
        let words: Vec<&str> = (0..self.between(4, 11)).map(|_| *self.pick(&WORDS)).collect();
        words.join(" ")
    }
}

/// What names and texts are made of.
pub const WORDS: [&str; 72] = [
    "account", "batch", "cache", "chunk", "client", "codec", "column", "config", "cursor", "date", "delta",
    "digest", "draft", "edge", "entry", "event", "export", "field", "filter", "flag", "frame", "graph",
    "guard", "handle", "header", "import", "index", "input", "invoice", "item", "key", "label", "layer",
    "limit", "line", "list", "loader", "lock", "map", "merge", "node", "offset", "option", "order", "page",
    "parser", "patch", "path", "plan", "pool", "price", "query", "queue", "range", "record", "report",
    "result", "retry", "route", "row", "schema", "scope", "session", "shard", "signal", "slot", "source",
    "stream", "table", "token", "total", "user",
];
