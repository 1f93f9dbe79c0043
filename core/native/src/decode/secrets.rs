//! The choice of configurations that are secret, by their names.

/// Words and ends of names: a configuration is secret if its name has a word and no public end.
pub struct Secrets {
    words: Vec<Vec<u8>>,
    public: Vec<Vec<u8>>,
}

impl Secrets {
    pub fn new(words: Vec<String>, public: Vec<String>) -> Self {
        let bytes = |texts: Vec<String>| texts.into_iter().map(String::into_bytes).collect();
        Secrets {
            words: bytes(words),
            public: bytes(public),
        }
    }

    pub fn has(&self, name: &[u8]) -> bool {
        let is_named = self.words.iter().any(|word| {
            name.windows(word.len().max(1))
                .any(|part| part.eq_ignore_ascii_case(word))
        });
        is_named && !self.public.iter().any(|end| name.ends_with(end))
    }
}
