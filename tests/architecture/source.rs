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
    /// Parameters, `self` included; a tuple counts as what is in it.
    pub parameters: usize,
    /// The types of parameters that say nothing at the place of the call.
    pub nameless: Vec<&'static str>,
}

/// A type that everybody may name.
pub struct PublicType {
    /// Its name.
    pub name: String,
    /// 1-based.
    pub line: usize,
}

/// A sentence that documents something.
pub struct Documented {
    /// The whole text, on one line.
    pub text: String,
    /// 1-based.
    pub line: usize,
}

/// One file of the program or of a crate.
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
    /// Public types outside test code.
    pub types: Vec<PublicType>,
    /// Doc comments outside test code.
    pub docs: Vec<Documented>,
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
            types: items.types,
            docs: items.docs,
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

    /// The top module; `None` for `lib.rs` and `main.rs`, and in a library.
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
    of_a_trait: bool,
    exempt: Vec<RangeInclusive<LineColumn>>,
    functions: Vec<Function>,
    types: Vec<PublicType>,
    docs: Vec<Documented>,
    test_modules: Vec<String>,
}

impl Items {
    /// Notes what documents something that has these attributes.
    fn document(&mut self, attributes: &[syn::Attribute]) {
        let lines: Vec<(String, usize)> = attributes.iter().filter_map(doc_line).collect();
        if let Some((_, line)) = lines.first() {
            let text: Vec<&str> = lines.iter().map(|(text, _)| text.trim()).collect();
            self.docs.push(Documented { text: text.join(" "), line: *line });
        }
    }

    fn public_type(&mut self, item: &syn::Item) {
        let (name, visibility) = match item {
            syn::Item::Enum(item) => (&item.ident, &item.vis),
            syn::Item::Struct(item) => (&item.ident, &item.vis),
            syn::Item::Trait(item) => (&item.ident, &item.vis),
            syn::Item::Type(item) => (&item.ident, &item.vis),
            syn::Item::Union(item) => (&item.ident, &item.vis),
            syn::Item::Verbatim(_) | _ => return,
        };
        if matches!(visibility, syn::Visibility::Public(_)) {
            self.types.push(PublicType { name: name.to_string(), line: name.span().start().line });
        }
    }

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
            parameters: signature.inputs.iter().map(parts).sum(),
            // The signature of a method of a trait is the trait's.
            nameless: if self.of_a_trait {
                Vec::new()
            } else {
                signature.inputs.iter().filter_map(nameless).collect()
            },
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
            self.document(attributes_of(item));
            self.public_type(item);
            visit::visit_item(self, item);
        }
    }

    fn visit_item_impl(&mut self, item: &'ast syn::ItemImpl) {
        let outside = std::mem::replace(&mut self.of_a_trait, item.trait_.is_some());
        visit::visit_item_impl(self, item);
        self.of_a_trait = outside;
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
            self.document(attributes);
            visit::visit_impl_item(self, item);
        }
    }

    fn visit_field(&mut self, field: &'ast syn::Field) {
        if !self.exempts(&field.attrs, field) {
            self.document(&field.attrs);
            visit::visit_field(self, field);
        }
    }

    fn visit_variant(&mut self, variant: &'ast syn::Variant) {
        if !self.exempts(&variant.attrs, variant) {
            self.document(&variant.attrs);
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

/// How many values a parameter brings: a tuple, and a reference to one, as many as are in it.
fn parts(parameter: &syn::FnArg) -> usize {
    let syn::FnArg::Typed(typed) = parameter else { return 1 };
    let mut kind = &*typed.ty;
    while let syn::Type::Reference(reference) = kind {
        kind = &reference.elem;
    }
    match kind {
        syn::Type::Tuple(tuple) => tuple.elems.len().max(1),
        syn::Type::Verbatim(_) | _ => 1,
    }
}

/// The type of a parameter that says nothing at the place of the call: a bool, a tuple, `Option<()>`.
fn nameless(parameter: &syn::FnArg) -> Option<&'static str> {
    let syn::FnArg::Typed(typed) = parameter else { return None };
    let mut kind = &*typed.ty;
    while let syn::Type::Reference(reference) = kind {
        kind = &reference.elem;
    }
    match kind {
        syn::Type::Tuple(tuple) if !tuple.elems.is_empty() => Some("a tuple"),
        syn::Type::Path(path) if path.path.is_ident("bool") => Some("a bool"),
        syn::Type::Path(path) if path.path.segments.last().is_some_and(is_option_of_nothing) => {
            Some("`Option<()>`")
        }
        syn::Type::Verbatim(_) | _ => None,
    }
}

fn is_option_of_nothing(segment: &syn::PathSegment) -> bool {
    let syn::PathArguments::AngleBracketed(arguments) = &segment.arguments else { return false };
    let is_unit = |argument: &syn::GenericArgument| matches!(argument, syn::GenericArgument::Type(syn::Type::Tuple(tuple)) if tuple.elems.is_empty());
    segment.ident == "Option" && arguments.args.iter().all(is_unit)
}

fn doc_line(attribute: &syn::Attribute) -> Option<(String, usize)> {
    let syn::Meta::NameValue(value) = &attribute.meta else { return None };
    let syn::Expr::Lit(syn::ExprLit { lit: syn::Lit::Str(text), .. }) = &value.value else { return None };
    value.path.is_ident("doc").then(|| (text.value(), text.span().start().line))
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
