//! One parsed file: its module path, what in it is test code, and its functions.

use std::ops::RangeInclusive;

use proc_macro2::{LineColumn, TokenStream};
use syn::spanned::Spanned as _;
use syn::visit::{self, Visit};

use crate::scan::{self, Scan};

/// A file that could not be read as Rust.
pub struct SourceError {
    /// 1-based.
    pub line: usize,
    /// What the parser said.
    pub message: String,
}

/// A function outside test code.
pub struct Function {
    /// Its name.
    pub name: String,
    /// Line of its `fn`, 1-based.
    pub line: usize,
    /// Lines from the start of its signature to its closing brace.
    pub lines: usize,
    /// Parameters, `self` included.
    pub parameters: usize,
}

/// One file of `src/`.
pub struct Source {
    /// From the repository root.
    pub path: String,
    /// `Some("testreport")` for files below `crates/testreport/`; `None` for those of the package itself.
    pub library: Option<String>,
    /// `["git", "notes"]` for `src/git/notes.rs`; empty for `lib.rs` and `main.rs`.
    pub module: Vec<String>,
    /// What the tokens outside test code name.
    pub scan: Scan,
    /// Functions outside test code.
    pub functions: Vec<Function>,
    /// Lines outside test code.
    pub lines: usize,
    test_modules: Vec<String>,
    whole_file_is_test: bool,
}

impl Source {
    /// Reads one file.
    pub fn parse(path: &str, text: &str) -> Result<Self, SourceError> {
        let failed =
            |error: &syn::Error| SourceError { line: error.span().start().line, message: error.to_string() };
        let file = syn::parse_file(text).map_err(|error| failed(&error))?;
        let tokens: TokenStream = text.parse().map_err(|error: proc_macro2::LexError| SourceError {
            line: error.span().start().line,
            message: error.to_string(),
        })?;
        let mut items = Items::default();
        items.visit_file(&file);
        let module = module_of(path);
        let scan = scan::scan(tokens, &module, &items.exempt);
        let in_tests: usize =
            items.exempt.iter().map(|region| region.end().line + 1 - region.start().line).sum();
        Ok(Self {
            path: path.to_owned(),
            library: library_of(path).map(|(library, _)| library.to_owned()),
            module,
            scan,
            functions: items.functions,
            lines: text.lines().count().saturating_sub(in_tests),
            test_modules: items.test_modules,
            whole_file_is_test: file.attrs.iter().any(is_cfg_test),
        })
    }

    /// Modules, each with its library, that exist only under `cfg(test)`: files below them are test code.
    pub fn test_modules(&self) -> Vec<(Option<String>, Vec<String>)> {
        if self.whole_file_is_test {
            return vec![(self.library.clone(), self.module.clone())];
        }
        let below = |name| self.module.iter().chain(std::iter::once(name)).cloned().collect();
        self.test_modules.iter().map(|name| (self.library.clone(), below(name))).collect()
    }

    /// The top module; `None` for `lib.rs` and `main.rs`, and in a library, which has no ranks.
    pub fn top(&self) -> Option<&str> {
        self.module.first().filter(|_| self.library.is_none()).map(String::as_str)
    }

    /// Whether the file belongs to one of `modules` of `library`.
    pub fn is_below(&self, (library, module): &(Option<String>, Vec<String>)) -> bool {
        self.library == *library && self.module.starts_with(module)
    }
}

/// The library that a path below `crates/` lies in, and the rest of the path.
fn library_of(path: &str) -> Option<(&str, &str)> {
    path.strip_prefix("crates/")?.split_once('/')
}

fn module_of(path: &str) -> Vec<String> {
    let path = library_of(path).map_or(path, |(_, rest)| rest);
    let inner = path.strip_prefix("src/").unwrap_or(path);
    let inner = inner.strip_suffix(".rs").unwrap_or(inner);
    let mut parts: Vec<String> = inner.split('/').map(str::to_owned).collect();
    if parts.last().is_some_and(|last| last == "mod") || inner == "lib" || inner == "main" {
        parts.pop();
    }
    parts
}

#[derive(Default)]
struct Items {
    exempt: Vec<RangeInclusive<LineColumn>>,
    functions: Vec<Function>,
    test_modules: Vec<String>,
}

impl Items {
    /// Remembers test code and says whether `node` is some.
    fn exempts(&mut self, attributes: &[syn::Attribute], node: &dyn syn::spanned::Spanned) -> bool {
        let is_test = attributes.iter().any(is_cfg_test);
        if is_test {
            let span = node.span();
            self.exempt.push(span.start()..=span.end());
        }
        is_test
    }

    fn function(&mut self, signature: &syn::Signature, body: &syn::Block) {
        let line = signature.span().start().line;
        self.functions.push(Function {
            name: signature.ident.to_string(),
            line,
            lines: body.span().end().line + 1 - line,
            parameters: signature.inputs.len(),
        });
    }
}

impl<'ast> Visit<'ast> for Items {
    fn visit_item(&mut self, item: &'ast syn::Item) {
        if let syn::Item::Mod(module) = item
            && module.content.is_none()
            && module.attrs.iter().any(is_cfg_test)
        {
            self.test_modules.push(module.ident.to_string());
        }
        if !self.exempts(attributes_of(item), item) {
            visit::visit_item(self, item);
        }
    }

    fn visit_impl_item(&mut self, item: &'ast syn::ImplItem) {
        let attributes = match item {
            syn::ImplItem::Const(item) => &item.attrs[..],
            syn::ImplItem::Fn(item) => &item.attrs,
            syn::ImplItem::Type(item) => &item.attrs,
            syn::ImplItem::Macro(item) => &item.attrs,
            syn::ImplItem::Verbatim(_) | _ => &[],
        };
        if !self.exempts(attributes, item) {
            visit::visit_impl_item(self, item);
        }
    }

    fn visit_field(&mut self, field: &'ast syn::Field) {
        if !self.exempts(&field.attrs, field) {
            visit::visit_field(self, field);
        }
    }

    fn visit_variant(&mut self, variant: &'ast syn::Variant) {
        if !self.exempts(&variant.attrs, variant) {
            visit::visit_variant(self, variant);
        }
    }

    fn visit_item_fn(&mut self, item: &'ast syn::ItemFn) {
        self.function(&item.sig, &item.block);
        visit::visit_item_fn(self, item);
    }

    fn visit_impl_item_fn(&mut self, item: &'ast syn::ImplItemFn) {
        self.function(&item.sig, &item.block);
        visit::visit_impl_item_fn(self, item);
    }

    fn visit_trait_item_fn(&mut self, item: &'ast syn::TraitItemFn) {
        if let Some(body) = &item.default {
            self.function(&item.sig, body);
        }
        visit::visit_trait_item_fn(self, item);
    }
}

fn attributes_of(item: &syn::Item) -> &[syn::Attribute] {
    match item {
        syn::Item::Const(item) => &item.attrs,
        syn::Item::ExternCrate(item) => &item.attrs,
        syn::Item::Enum(item) => &item.attrs,
        syn::Item::Fn(item) => &item.attrs,
        syn::Item::Impl(item) => &item.attrs,
        syn::Item::Macro(item) => &item.attrs,
        syn::Item::Mod(item) => &item.attrs,
        syn::Item::Static(item) => &item.attrs,
        syn::Item::Struct(item) => &item.attrs,
        syn::Item::Trait(item) => &item.attrs,
        syn::Item::Type(item) => &item.attrs,
        syn::Item::ForeignMod(item) => &item.attrs,
        syn::Item::TraitAlias(item) => &item.attrs,
        syn::Item::Union(item) => &item.attrs,
        syn::Item::Use(item) => &item.attrs,
        syn::Item::Verbatim(_) | _ => &[],
    }
}

/// `cfg(test)` and `cfg(all(test, ..))`; `any(test, ..)` is in the program too, and so no test code.
fn is_cfg_test(attribute: &syn::Attribute) -> bool {
    let syn::Meta::List(list) = &attribute.meta else { return false };
    if !list.path.is_ident("cfg") {
        return false;
    }
    let words = list.tokens.to_string().replace(' ', "");
    words == "test" || words.starts_with("all(test,") || words == "all(test)"
}
