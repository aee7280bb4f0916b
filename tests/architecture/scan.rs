//! Reads the tokens of a file: every path, macro call, method call, attribute and module name outside test code.
//!
//! Tokens rather than the syntax tree, so that a path inside a macro's arguments counts like any other.

use std::collections::BTreeMap;
use std::ops::RangeInclusive;

use proc_macro2::{Delimiter, LineColumn, Span, TokenStream, TokenTree};

/// The place of a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Place {
    /// In a private `use`.
    Use,
    /// In a `use` with a visibility: what it names can be reached from elsewhere.
    ReExport,
    /// In code, types or macro arguments.
    Code,
}

/// A path of two segments or more, or of any length in a `use`, made absolute:
/// it begins with `crate` or with the name of another crate.
#[derive(Debug, Clone)]
pub struct Reference {
    /// The segments; a glob's `*` is not one.
    pub path: Vec<String>,
    /// True for `use path::*`.
    pub glob: bool,
    /// 1-based.
    pub line: usize,
    /// Its place.
    pub place: Place,
    /// True when its first segment was a name that a `use` of this file brought in.
    pub through_alias: bool,
}

/// A name at a line.
#[derive(Debug, Clone)]
pub struct Named {
    /// The name.
    pub name: String,
    /// 1-based.
    pub line: usize,
}

/// What a file's tokens name.
#[derive(Debug, Default)]
pub struct Scan {
    /// Paths.
    pub references: Vec<Reference>,
    /// Macros that are called, without their path.
    pub macros: Vec<Named>,
    /// Methods that are called.
    pub methods: Vec<Named>,
    /// Modules that are declared.
    pub modules: Vec<Named>,
    /// Lines of `allow` and `expect` attributes without a reason.
    pub bare_allows: Vec<usize>,
    /// String literals, as they are written, with their quotes.
    pub strings: Vec<Named>,
    /// Words of the value of each `static` or `const` named `REGISTRY`.
    pub registry: Vec<String>,
    aliases: BTreeMap<String, Vec<String>>,
}

/// Scans `tokens` of the file of `module`, leaving out what lies in `exempt`.
pub fn scan(tokens: TokenStream, module: &[String], exempt: &[RangeInclusive<LineColumn>]) -> Scan {
    let mut scanner = Scanner { exempt, found: Scan::default() };
    scanner.walk(tokens, module);
    let mut found = scanner.found;
    for reference in &mut found.references {
        resolve_alias(reference, &found.aliases);
    }
    let aliases = std::mem::take(&mut found.aliases);
    let expanded: Vec<String> =
        found.registry.iter().filter_map(|word| aliases.get(word)).flatten().cloned().collect();
    found.registry.extend(expanded);
    found
}

/// `process::Command` after `use std::process` is `std::process::Command`.
fn resolve_alias(reference: &mut Reference, aliases: &BTreeMap<String, Vec<String>>) {
    for _ in 0..8 {
        let Some(target) = reference.path.first().and_then(|first| aliases.get(first)) else { return };
        if target.first() == reference.path.first() {
            return;
        }
        reference.path.splice(..1, target.iter().cloned());
        reference.through_alias = true;
    }
}

struct Scanner<'a> {
    exempt: &'a [RangeInclusive<LineColumn>],
    found: Scan,
}

impl Scanner<'_> {
    fn walk(&mut self, tokens: TokenStream, module: &[String]) {
        let exempt = self.exempt;
        let is_exempt =
            |token: &TokenTree| exempt.iter().any(|region| region.contains(&token.span().start()));
        let tokens: Vec<TokenTree> = tokens.into_iter().filter(|token| !is_exempt(token)).collect();
        let mut at = 0;
        while at < tokens.len() {
            at = self.step(&tokens, at, module);
        }
    }

    /// Reads what begins at `at` and returns where the next thing begins.
    fn step(&mut self, tokens: &[TokenTree], at: usize, module: &[String]) -> usize {
        match &tokens[at] {
            TokenTree::Punct(punct) if punct.as_char() == '#' => self.attribute(tokens, at, module),
            TokenTree::Ident(ident) if ident == "use" && !is_punct(tokens.get(at + 1), '<') => {
                self.use_item(tokens, at, module)
            }
            TokenTree::Ident(ident) if ident == "extern" && is_ident(tokens.get(at + 1), "crate") => {
                // `extern crate git2 as g;` is `use git2 as g;`.
                self.use_item(tokens, at + 1, module)
            }
            TokenTree::Ident(ident) if ident == "mod" => self.module_item(tokens, at, module),
            TokenTree::Ident(ident) if ident == "REGISTRY" && is_declared(tokens, at) => {
                let value = tokens[at..].iter().take_while(|token| !is_punct(Some(token), ';'));
                value.for_each(|token| words(token, &mut self.found.registry));
                at + 1
            }
            TokenTree::Ident(_) => self.path(tokens, at, module),
            TokenTree::Group(group) => {
                self.walk(group.stream(), module);
                at + 1
            }
            TokenTree::Literal(literal) => {
                let line = line(literal.span());
                self.found.strings.push(Named { name: literal.to_string(), line });
                at + 1
            }
            TokenTree::Punct(_) => at + 1,
        }
    }

    fn attribute(&mut self, tokens: &[TokenTree], at: usize, module: &[String]) -> usize {
        let at = if is_punct(tokens.get(at + 1), '!') { at + 2 } else { at + 1 };
        let Some(TokenTree::Group(group)) = tokens.get(at) else { return at };
        if group.delimiter() == Delimiter::Bracket {
            let mut inside = Vec::new();
            group.stream().into_iter().for_each(|token| words(&token, &mut inside));
            let conditional = inside.first().is_some_and(|word| word == "cfg_attr");
            let silences = |word: &String| word == "allow" || word == "expect";
            let is_allow =
                inside.first().is_some_and(silences) || (conditional && inside.iter().any(silences));
            if is_allow && !inside.iter().any(|word| word == "reason") {
                self.found.bare_allows.push(group.span().start().line);
            }
            self.walk(group.stream(), module);
        }
        at + 1
    }

    fn module_item(&mut self, tokens: &[TokenTree], at: usize, module: &[String]) -> usize {
        let Some(TokenTree::Ident(name)) = tokens.get(at + 1) else { return at + 1 };
        let name = plain(name);
        self.found.modules.push(Named { name: name.clone(), line: line(tokens[at].span()) });
        if let Some(TokenTree::Group(body)) = tokens.get(at + 2) {
            let inner: Vec<String> = module.iter().cloned().chain(std::iter::once(name)).collect();
            self.walk(body.stream(), &inner);
            return at + 3;
        }
        at + 2
    }

    fn use_item(&mut self, tokens: &[TokenTree], at: usize, module: &[String]) -> usize {
        let end = (at..tokens.len()).find(|index| is_punct(tokens.get(*index), ';')).unwrap_or(tokens.len());
        let place = match at.checked_sub(1).map(|before| &tokens[before]) {
            Some(TokenTree::Ident(before)) if before == "pub" => Place::ReExport,
            Some(TokenTree::Group(before)) if before.delimiter() == Delimiter::Parenthesis => Place::ReExport,
            Some(_) | None => Place::Use,
        };
        self.use_tree(&tokens[at + 1..end], &[], module, place);
        end + 1
    }

    /// One branch of a `use`: `a::b`, `a::b as c`, `a::*` or `a::{..}`.
    fn use_tree(&mut self, tokens: &[TokenTree], before: &[String], module: &[String], place: Place) {
        let mut path = before.to_vec();
        let mut rename = None;
        let mut glob = false;
        for (index, token) in tokens.iter().enumerate() {
            match token {
                TokenTree::Ident(ident) if ident == "as" => {
                    if let Some(TokenTree::Ident(name)) = tokens.get(index + 1) {
                        rename = Some(plain(name));
                    }
                    break;
                }
                TokenTree::Ident(ident) => path.push(plain(ident)),
                TokenTree::Punct(punct) if punct.as_char() == '*' => glob = true,
                TokenTree::Group(group) => {
                    let inner: Vec<TokenTree> = group.stream().into_iter().collect();
                    for branch in
                        inner.split(|token| is_punct(Some(token), ',')).filter(|branch| !branch.is_empty())
                    {
                        self.use_tree(branch, &path, module, place);
                    }
                    return;
                }
                TokenTree::Punct(_) | TokenTree::Literal(_) => {}
            }
        }
        if path.len() > 1 && path.last().is_some_and(|last| last == "self") {
            path.pop();
        }
        let path = absolute(path, module);
        let name = rename.or_else(|| path.last().cloned()).filter(|name| !glob && name != "_");
        if let Some(name) = name {
            self.found.aliases.insert(name, path.clone());
        }
        let line = tokens.first().map_or(0, |token| line(token.span()));
        self.found.references.push(Reference { path, glob, line, place, through_alias: false });
    }

    /// A path in code, or a method after a dot.
    fn path(&mut self, tokens: &[TokenTree], at: usize, module: &[String]) -> usize {
        let start = line(tokens[at].span());
        let mut path = Vec::new();
        let mut next = at;
        while let Some(TokenTree::Ident(segment)) = tokens.get(next) {
            path.push(plain(segment));
            next += 1;
            let followed = is_punct(tokens.get(next), ':') && is_punct(tokens.get(next + 1), ':');
            if !followed || !matches!(tokens.get(next + 2), Some(TokenTree::Ident(_))) {
                break;
            }
            next += 2;
        }
        let after_dot =
            at > 0 && is_punct(tokens.get(at - 1), '.') && !(at > 1 && is_punct(tokens.get(at - 2), '.'));
        let last = path.last().cloned().unwrap_or_default();
        if after_dot {
            if is_call(tokens, next) {
                self.found.methods.push(Named { name: last, line: start });
            }
            return next;
        }
        if is_punct(tokens.get(next), '!') && matches!(tokens.get(next + 1), Some(TokenTree::Group(_))) {
            self.found.macros.push(Named { name: last, line: start });
        }
        if path.len() > 1 && path.first().is_some_and(|first| first != "Self") {
            let path = absolute(path, module);
            let reference =
                Reference { path, glob: false, line: start, place: Place::Code, through_alias: false };
            self.found.references.push(reference);
        }
        next
    }
}

/// True after `static` or `const`.
fn is_declared(tokens: &[TokenTree], at: usize) -> bool {
    let before = at.checked_sub(1).map(|before| &tokens[before]);
    is_ident(before, "static") || is_ident(before, "const")
}

fn is_call(tokens: &[TokenTree], next: usize) -> bool {
    matches!(tokens.get(next), Some(TokenTree::Group(group)) if group.delimiter() == Delimiter::Parenthesis)
}

/// `self::`, `super::` and `crate::` made absolute; anything else begins with another crate or a local name.
fn absolute(path: Vec<String>, module: &[String]) -> Vec<String> {
    let relative = path.first().is_some_and(|first| first == "self" || first == "super");
    if !relative {
        return path;
    }
    let mut base = module.to_vec();
    let mut rest = path.into_iter().peekable();
    while let Some(step) = rest.next_if(|segment| segment == "self" || segment == "super") {
        if step == "super" {
            base.pop();
        }
    }
    std::iter::once(String::from("crate")).chain(base).chain(rest).collect()
}

fn words(token: &TokenTree, out: &mut Vec<String>) {
    match token {
        TokenTree::Ident(ident) => out.push(plain(ident)),
        TokenTree::Group(group) => group.stream().into_iter().for_each(|token| words(&token, out)),
        TokenTree::Punct(_) | TokenTree::Literal(_) => {}
    }
}

fn plain(ident: &proc_macro2::Ident) -> String {
    let text = ident.to_string();
    text.strip_prefix("r#").map_or_else(|| text.clone(), str::to_owned)
}

fn is_punct(token: Option<&TokenTree>, wanted: char) -> bool {
    matches!(token, Some(TokenTree::Punct(punct)) if punct.as_char() == wanted)
}

fn is_ident(token: Option<&TokenTree>, wanted: &str) -> bool {
    matches!(token, Some(TokenTree::Ident(ident)) if ident == wanted)
}

fn line(span: Span) -> usize {
    span.start().line
}
