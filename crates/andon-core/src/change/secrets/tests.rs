//! Each form has a sample; ordinary words and paths have none.

use proptest::prelude::*;

use super::*;

/// Texts with what is left of them.
const MASKED: [(&str, &str); 50] = [
    ("aws AKIAIOSFODNN7EXAMPLE s3", "aws <secret> s3"),
    ("ASIAIOSFODNN7EXAMPLE", "<secret>"),
    ("ghp_0123456789abcdefghijABCDEFGHIJ456789", "<secret>"),
    ("gho_0123456789abcdefghijABCDEFGHIJ456789,", "<secret>,"),
    ("github_pat_11ABCDEFG0abcdefghijkl_0123456789", "<secret>"),
    ("glpat-ABCdef123456789_0123x", "<secret>"),
    ("sk-ant-api03-AbCdEfGhIjKlMnOpQrStUv0123456789", "<secret>"),
    ("sk-proj-abcdefghijklmnop1234", "<secret>"),
    ("sk_live_51HabcdefghijkLMN", "<secret>"),
    ("xoxb-123456789012-abcdefghijkl", "<secret>"),
    ("https://hooks.slack.com/services/T0/B0/abc1", "https://<secret>"),
    ("key AIzaSyA-1234567890abcdefghijklmnopqrstuv", "key <secret>"),
    ("ya29.a0AfH6SMBx-1234567890", "<secret>"),
    ("npm_abcdefghijklmnopqrstuvwxyz0123456789", "<secret>"),
    ("pypi-AgEIcHlwaS5vcmcCJGFiY2RlZjAxMjM0NTY3", "<secret>"),
    ("hf_abcdefghijklmnopqrstuvwxyz01234567", "<secret>"),
    ("eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.abc-_def end", "<secret> end"),
    ("a -----BEGIN RSA PRIVATE KEY-----\nMII\n-----END RSA PRIVATE KEY----- b", "a <secret> b"),
    ("-----BEGIN OPENSSH PRIVATE KEY-----\nb3BlbnNzaC1rZXk", "<secret>"),
    ("-----BEGIN PGP PRIVATE KEY BLOCK-----\nlQO", "<secret>"),
    ("curl -H \"Authorization: Bearer abc.def\" x", "curl -H \"Authorization: Bearer <secret>\" x"),
    ("curl -H \"Authorization: Bearer abc1def2\" x", "curl -H \"Authorization: Bearer <secret>\" x"),
    ("-H 'authorization: Basic dXNlcjpwYXNz'", "-H 'authorization: Basic <secret>'"),
    ("{\"Authorization\":\"token 0123456789abcdef\"}", "{\"Authorization\":\"token <secret>\"}"),
    ("Authorization: 0123456789abcdef", "Authorization: <secret>"),
    ("X-Api-Key: hunter", "X-Api-Key: <secret>"),
    ("PRIVATE-TOKEN: abcdef", "PRIVATE-TOKEN: <secret>"),
    ("curl -H 'Cookie: session=abc; csrf=def' x", "curl -H 'Cookie: <secret>' x"),
    ("bearer 0123456789abcdef", "bearer <secret>"),
    ("https://user:hunter2@x.org/", "https://user:<secret>@x.org/"),
    ("postgres://u:p@ss@host:5432/db", "postgres://u:<secret>@host:5432/db"),
    ("redis://:pw@h", "redis://:<secret>@h"),
    ("git clone https://0123456789abcdef0123@x.org/a", "git clone https://<secret>@x.org/a"),
    ("API_KEY=supersecretvalue123 make", "API_KEY=<secret> make"),
    ("PGPASSWORD=x psql", "PGPASSWORD=<secret> psql"),
    ("MYSQL_PWD=abc mysql", "MYSQL_PWD=<secret> mysql"),
    ("DB_PASS=abc", "DB_PASS=<secret>"),
    ("GET /x?token=abc&b=1", "GET /x?token=<secret>&b=1"),
    ("aws_secret_access_key=wJalrXUtnFEMI/K7MDENG/bPx", "aws_secret_access_key=<secret>"),
    ("password=\"two words\" x", "password=\"<secret>\" x"),
    ("client_secret = 'it is'", "client_secret = '<secret>'"),
    ("{\"password\":\"a\\\"b\",\"x\":1}", "{\"password\":\"<secret>\",\"x\":1}"),
    ("\"{\\\"token\\\": \\\"ab cd\\\", 1}\"", "\"{\\\"token\\\": \\\"<secret>\\\", 1}\""),
    ("secret: hunter2", "secret: <secret>"),
    ("run --password hunter22 a", "run --password <secret> a"),
    ("run --api-key=abc --user-token 'def'", "run --api-key=<secret> --user-token '<secret>'"),
    ("curl -s -u me:hunter2 https://x.org", "curl -s -u me:<secret> https://x.org"),
    ("sshpass -p hunter2 ssh x", "sshpass -p <secret> ssh x"),
    ("mysql -u root -phunter2 db", "mysql -u root -p<secret> db"),
    ("mysqldump -phunter2 db", "mysqldump -p<secret> db"),
];

#[test]
fn known_forms_are_masked() {
    for (text, expected) in MASKED {
        assert_eq!(masked(text), expected, "{text}");
    }
}

#[test]
fn ordinary_words_and_paths_stay() {
    for text in [
        "cargo test --locked -p token",
        "src/auth/token.rs:12: unexpected token: `}`",
        "the token: it is not there, and the secret: neither",
        "task-runner-with-a-long-name/sk-learn-contrib-package",
        "cat disk-usage.txt bearer authentication",
        "ssh://git@github.com:22/a git@github.com:org/repo.git",
        "http://localhost:3000/@scope/pkg https://x.org/a:b@c",
        "export PWD=/home/me OLDPWD=/x keyboard=de monkey=1 tokens=100 max_tokens=4096",
        "--password-file /run/x --token-file ./t --token ./t --secret /run/secrets/db --token --verbose",
        "PASSWORD=$PASSWORD TOKEN=$(cat t) SECRET=${S} is_secret=true token == other",
        "mkdir -p src/a && docker run -u 1000:1000 x && mysql -P 3306",
        "GOOGLE_APPLICATION_CREDENTIALS=/a.json PRIVATE KEY Asia glob ghost_writer",
        "Authorization: required; cookie: chocolate; authorization: token expired",
        "def password(self, secret, token): return hash(password)",
        "grep -rn 'api_key' src tests/secrets/forms.rs",
        "sha256 9b2e4567e89b12d3a456426614174000 123e4567-e89b-12d3-a456-426614174000",
    ] {
        assert_eq!(masked(text), text);
    }
}

#[test]
fn every_form_compiles_and_has_its_signs() {
    let signs = SIGNS.as_ref().unwrap();
    let rows = WordList::section(TEXT, "forms").iter().filter(|row| !row.starts_with('#'));
    assert_eq!(FORMS.len(), rows.count());
    for form in FORMS.iter() {
        let regex = testreport::pattern(&form.pattern()).unwrap();
        assert!(form.signs().all(|sign| sign == sign.to_ascii_lowercase()));
        let samples: Vec<&str> =
            MASKED.map(|(text, _)| text).into_iter().filter(|text| regex.is_match(text)).collect();
        assert!(!samples.is_empty(), "{}", form.pattern);
        for sample in samples {
            let lower = sample.to_ascii_lowercase();
            assert!(form.signs().any(|sign| lower.contains(sign)), "{sample}: {}", form.pattern);
            assert!(signs.is_match(sample));
        }
    }
}

/// Pieces for making texts with and without secrets.
fn text() -> impl Strategy<Value = String> {
    let pieces = MASKED.map(|(text, _)| text).to_vec();
    let glue =
        vec![" ", "\"", "\\\"", "=", ":", "\n", "é", "token", "--password ", "https://a:", "@", "<secret>"];
    prop::collection::vec(prop::sample::select([pieces, glue].concat()), 0..8).prop_map(|all| all.join(" "))
}

proptest! {
    #[test]
    fn to_mask_twice_is_to_mask_once(text in text()) {
        let once = masked(&text).into_owned();
        prop_assert_eq!(masked(&once), once.as_str());
    }

    #[test]
    fn no_text_panics(text in any::<String>()) {
        let _ = masked(&text);
    }

    #[test]
    fn what_stands_around_a_token_does_not_show_it(before in "[ a-z\"'=:,]{0,8}", after in "[ \"',;)]{1}[a-z]{0,5}") {
        for token in ["AKIAIOSFODNN7EXAMPLE", "xoxb-123456789012-abcdefghijkl"] {
            let text = format!("{before} {token}{after}");
            prop_assert!(!masked(&text).contains(token), "{}", text);
        }
    }
}
