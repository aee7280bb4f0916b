//! Secrets in a text that is about to be kept or shown, masked by the forms in which they are known to come. A tool
//! call may hold a token; the line of the call in the journal and on a screen must not.
//!
//! Masking a word too many is better than showing a token, but a sentence or a path stays unchanged: a form that begins
//! with a common word such as `token` requires more text after it.

use std::borrow::Cow;
use std::sync::{LazyLock, OnceLock};

use regex::Regex;

/// The text that replaces a secret.
pub const MASK: &str = "<secret>";

/// Any sign of any form, so that most texts are looked at once.
static SIGNS: LazyLock<Option<Regex>> = LazyLock::new(|| {
    let signs: Vec<String> =
        FORMS.iter().flat_map(|form| form.signs).map(|sign| regex::escape(sign)).collect();
    testreport::pattern(&format!("(?i-u:{})", signs.join("|")))
});

/// Each form is compiled when the first text has a sign of it.
static COMPILED: [OnceLock<Option<Regex>>; FORMS.len()] = [const { OnceLock::new() }; FORMS.len()];

/// `text` with every secret of a known form masked. To mask twice is to mask once.
pub fn masked(text: &str) -> Cow<'_, str> {
    if !SIGNS.as_ref().is_some_and(|signs| signs.is_match(text)) {
        return Cow::Borrowed(text);
    }
    let lower = text.to_ascii_lowercase();
    let signed = |form: &Form| form.signs.iter().any(|sign| lower.contains(sign));
    let mut result = Cow::Borrowed(text);
    for (form, compiled) in FORMS.iter().zip(&COMPILED).filter(|(form, _)| signed(form)) {
        // A test compiles every one of them.
        let Some(regex) = compiled.get_or_init(|| testreport::pattern(form.pattern)) else { continue };
        if let Some(replaced) = replaced(&result, form, regex) {
            result = Cow::Owned(replaced);
        }
    }
    result
}

/// `text` with what the groups of `form` caught masked, or all of a match where it has no group; `None` where nothing is.
fn replaced(text: &str, form: &Form, regex: &Regex) -> Option<String> {
    let mut out = String::new();
    let mut end = 0;
    for found in regex.captures_iter(text) {
        let secret = found.iter().skip(1).flatten().next().or_else(|| found.get(0));
        let Some(secret) = secret.filter(|secret| (form.is_secret)(secret.as_str())) else { continue };
        out.push_str(&text[end..secret.start()]);
        out.push_str(MASK);
        end = secret.end();
    }
    (end > 0).then(|| out + &text[end..])
}

/// One form.
struct Form {
    /// The signs, in lower case, of which every text of the form has at least one. They are looked for first, since compiling a
    /// pattern costs a hook more than everything else it does with a call.
    signs: &'static [&'static str],
    /// The group that takes part in a match is the secret; without groups the whole match is.
    pattern: &'static str,
    /// Returns true when the caught text is a secret and not an ordinary word.
    is_secret: fn(&str) -> bool,
}

/// Names of what is secret, as keys and flags end with them.
macro_rules! names {
    () => {
        r"(?i-u:password|passwd|passphrase|[-_.]pass|[-_.]pwd|secret|token|api[-_]?key|access[-_]?key|secret[-_]?key|private[-_]?key|encryption[-_]?key|signing[-_]?key)"
    };
}

/// Signs of [`names`].
const NAMES: &[&str] = &["pass", "pwd", "secret", "token", "key"];

/// In the order in which they are masked: what spans most comes first.
const FORMS: [Form; 16] = [
    // A key as a block of PEM or PGP, and be it cut off.
    Form {
        signs: &["private key"],
        pattern: r"-----BEGIN [A-Z0-9 ]*PRIVATE KEY[A-Z ]*-----(?s:.*?)(?:-----END [A-Z0-9 ]*-----|$)",
        is_secret: |_| true,
    },
    // A header whose scheme says what follows.
    Form {
        signs: &["authorization"],
        pattern: r#"(?i-u:authorization)\\*["']?\s*[:=]\s*\\*["']?(?i-u:basic|bearer|token|digest|negotiate|apikey)(?:\s|\\ )+([^\s"'\\]+)"#,
        is_secret: |text| text.len() >= 16 || !text.bytes().all(|byte| byte.is_ascii_lowercase()),
    },
    // The same without a scheme.
    Form {
        signs: &["authorization"],
        pattern: r#"(?i-u:authorization)\\*["']?\s*[:=]\s*\\*["']?([^\s"'\\]{8,})"#,
        is_secret: looks_random,
    },
    // Headers that hold nothing but a key.
    Form {
        signs: &["x-", "api-key", "private-token"],
        pattern: r#"(?-u:\b)(?i-u:x-(?:[a-z]+-)*(?:api-?key|token|secret|auth)|api-key|private-token)\\*["']?\s*:\s*\\*["']?([^\s"'\\]{4,})"#,
        is_secret: is_value,
    },
    // Cookies are sessions.
    Form {
        signs: &["cookie"],
        pattern: r#"(?i-u:cookie)\\*["']?\s*:\s*\\*["']?([^"'\r\n\\]+)"#,
        is_secret: |text| text.contains('='),
    },
    Form {
        signs: &["bearer"],
        pattern: r"(?-u:\b)(?i-u:bearer)\s+([A-Za-z0-9._~+/=-]{8,})",
        is_secret: looks_random,
    },
    // https://user:password@host
    Form {
        signs: &["://"],
        pattern: r#"(?i-u:[a-z][a-z0-9+.-]*)://[^\s/@:"']*:([^\s/"']+)@"#,
        is_secret: |text| !text.is_empty(),
    },
    // https://token@host
    Form { signs: &["://"], pattern: r#"://([^\s/@:"']{16,})@"#, is_secret: looks_random },
    // Known beginnings that no word has.
    Form {
        signs: &[
            "akia",
            "asia",
            "gh",
            "github_pat_",
            "gl",
            "k_live_",
            "k_test_",
            "xox",
            "hooks.slack.com",
            "aiza",
            "ya29.",
            "npm_",
            "pypi-",
            "hf_",
            "sg.",
        ],
        pattern: r"(?-u:\b)(?:(?:AKIA|ASIA)[A-Z0-9]{16}|gh[a-z]_[A-Za-z0-9]{16,}|github_pat_[A-Za-z0-9_]{20,}|gl[a-z]{1,8}-[A-Za-z0-9_-]{20,}|[srp]k_(?:live|test)_[A-Za-z0-9]{12,}|xox[a-z](?:\.[a-z]+)?-[A-Za-z0-9-]{8,}|hooks\.slack\.com/(?:services|workflows)/[A-Za-z0-9/_-]+|AIza[A-Za-z0-9_-]{30,}|ya29\.[A-Za-z0-9_-]{16,}|npm_[A-Za-z0-9]{30,}|pypi-[A-Za-z0-9_-]{30,}|hf_[A-Za-z0-9]{30,}|SG\.[A-Za-z0-9_-]{16,}\.[A-Za-z0-9_-]{16,})",
        is_secret: has_digit,
    },
    // OpenAI, Anthropic and others. Words may begin so as well, and have no digits.
    Form {
        signs: &["sk-"],
        pattern: r"(?-u:\b)sk-[A-Za-z0-9_-]{16,}",
        is_secret: |text| has_digit(text) || (looks_random(text) && text.len() >= 32),
    },
    // A JSON web token: `{"` in base64.
    Form {
        signs: &["eyj"],
        pattern: r"(?-u:\b)eyJ[A-Za-z0-9_-]{12,}(?:\.[A-Za-z0-9_-]*){0,4}",
        is_secret: |_| true,
    },
    // --password WORD, --api-key=WORD
    Form {
        signs: NAMES,
        pattern: concat!(
            r"(?:^|[\s\x22'])--?(?i-u:(?:[a-z0-9]+[-_])*)",
            names!(),
            r#"(?:\s+|=)\\*["']?([^\s"'\\]+)"#
        ),
        is_secret: is_value,
    },
    // PASSWORD=word, ?token=word&
    Form {
        signs: NAMES,
        pattern: concat!(names!(), r#"\\*["']?=([^\s"'`,;&|)}\]=\\][^\s"'`,;&|)}\]\\]*)"#),
        is_secret: is_value,
    },
    // "password": "word", secret = 'word', in a text within JSON as well
    Form {
        signs: NAMES,
        pattern: concat!(names!(), r#"\\*["']?\s*[:=]\s*(?:\\+"([^"\\]+)|"((?:[^"\\]|\\.)+)|\\*'([^']+))"#),
        is_secret: is_value,
    },
    // password: word, where the word is none
    Form {
        signs: NAMES,
        pattern: concat!(names!(), r#"\\*["']?\s*[:=]\s*([^\s"'`,;&|(){}\[\]<>=\\]{6,})"#),
        is_secret: |text| is_value(text) && looks_random(text),
    },
    // Programs that take a password in a short flag.
    Form {
        signs: &["curl", "sshpass", "mysql"],
        pattern: r#"(?-u:\b)(?:curl(?-u:\b)[^|;&\n]*?\s(?:-u|--user)(?:\s+|=)?\\*["']?[^\s:"']+:([^\s"'\\]+)|sshpass\s+-p\s*\\*["']?([^\s"'\\]+)|mysql[a-z]*\s(?:[^|;&\n]*?\s)?-p([^\s"'\\]+))"#,
        is_secret: is_value,
    },
];

fn has_digit(text: &str) -> bool {
    text.bytes().any(|byte| byte.is_ascii_digit())
}

/// Returns whether a text has a digit, or a capital letter within: words of a sentence have neither.
fn looks_random(text: &str) -> bool {
    let inner_capital = || text.bytes().skip(1).any(|byte| byte.is_ascii_uppercase());
    let is_place = text.contains("://") || is_path(text);
    !is_place && (has_digit(text) || (inner_capital() && text.bytes().any(|byte| byte.is_ascii_lowercase())))
}

/// Returns whether what is assigned is a value of its own: no switch, no variable, no file and no other flag.
fn is_value(text: &str) -> bool {
    const WORDS: [&str; 8] = ["true", "false", "none", "null", "nil", "undefined", "yes", "no"];
    let is_word = || WORDS.iter().any(|word| text.eq_ignore_ascii_case(word));
    let name = text.strip_prefix('$').unwrap_or_default();
    let is_variable = text.starts_with("$(")
        || text.starts_with("${")
        || (!name.is_empty() && name.bytes().all(|byte| byte.is_ascii_uppercase() || byte == b'_'));
    !(text.starts_with('-') || is_variable || is_word() || is_path(text))
}

/// Returns whether a text is a path for sure. Base64 has a slash as well, but with capital letters around it.
fn is_path(text: &str) -> bool {
    let plain = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || b"._-/".contains(&byte);
    let starts = ["./", "../", "~/", "@"].iter().any(|start| text.starts_with(start));
    starts || (text.contains('/') && text.bytes().all(plain) && !text.ends_with('='))
}

#[cfg(test)]
mod tests;
