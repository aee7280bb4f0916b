//! What installing changed, so that uninstalling can change exactly that back.
//!
//! Shims are known by their own bytes (`shim`), so that a lost manifest loses little: the folder that was
//! made for them and the added `notes.displayRef` stay. It lives in the common git directory and is written
//! before the first hook is touched: an entry for a hook that never came to be does no harm, a hook without
//! an entry might.

use std::collections::BTreeMap;
use std::io::{self, Read as _, Write as _};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::hooks::Hook;
use super::mode::Integration;
use andon_core::domain::ids::Digest;
use andon_git::platform::paths::{bytes_of, path_from_bytes};

const SCHEMA: &str = "andon/install@1";

/// A manifest is a kilobyte per hooks directory; more than this is no manifest.
const MAX_BYTES: u64 = 1024 * 1024;

/// Why the manifest could not be used.
#[derive(Debug, thiserror::Error)]
pub enum ManifestError {
    /// The disk would not have it.
    #[error("cannot {verb} {}: {source}", path.display())]
    Io {
        /// `read` or `write`.
        verb: &'static str,
        /// Where the manifest is, or was to be.
        path: PathBuf,
        /// What the system says.
        source: io::Error,
    },
    /// It is not one, or one of a newer version.
    #[error(
        "{} is no install manifest ({why}); delete it: `andon uninstall` then goes by the hooks themselves",
        path.display()
    )]
    Malformed {
        /// The file that should be the manifest.
        path: PathBuf,
        /// What is wrong, with line and column.
        why: String,
    },
}

/// One hooks directory into which Andon was installed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HooksFolder {
    /// Absolute.
    pub dir: PathBuf,
    /// The directories that were made for the hooks, outermost first; empty when `dir` was there.
    pub created: Vec<PathBuf>,
    /// The digest of each shim as written.
    pub shims: BTreeMap<Hook, Digest>,
}

/// Whether an edited file was there before Andon.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Birth {
    /// It was there, and stays when our lines are taken out.
    There,
    /// Andon made it.
    Made,
}

/// A file of another owner with lines of ours.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EditedFile {
    /// Absolute.
    pub path: PathBuf,
    /// Whether it was there.
    pub birth: Birth,
    /// What was put in, byte for byte.
    pub inserted: Vec<String>,
}

/// Everything that installing changed in one repository.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Manifest {
    /// Usually one; more when `core.hooksPath` changed between two installs.
    pub places: Vec<HooksFolder>,
    /// The values that were added to `notes.displayRef`.
    pub display_refs: Vec<String>,
    /// The fetch refspecs that were added: key (`remote.NAME.fetch`) and value.
    pub fetch: Vec<(String, String)>,
    /// In which way it was installed; `None` in one from before there was a choice.
    pub mode: Option<Integration>,
    /// Files of others with lines of ours.
    pub files: Vec<EditedFile>,
    /// The hooks in the configuration: key and value.
    pub hook_keys: Vec<(String, String)>,
}

impl Manifest {
    /// Where the manifest of the repository with this common git directory is.
    pub fn path(common_dir: &Path) -> PathBuf {
        common_dir.join("andon").join("install.json")
    }

    /// Reads it. `None` when there is none.
    pub fn read(path: &Path) -> Result<Option<Self>, ManifestError> {
        let io = |source| ManifestError::Io { verb: "read", path: path.to_owned(), source };
        let malformed = |why: String| ManifestError::Malformed { path: path.to_owned(), why };
        let file = match std::fs::File::open(path) {
            Ok(file) => file,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(io(error)),
        };
        let mut bytes = Vec::new();
        file.take(MAX_BYTES + 1).read_to_end(&mut bytes).map_err(io)?;
        if bytes.len() as u64 > MAX_BYTES {
            return Err(malformed(format!("larger than {MAX_BYTES} bytes")));
        }
        let wire: Wire = serde_json::from_slice(&bytes).map_err(|error| malformed(error.to_string()))?;
        wire.into_manifest().map(Some).map_err(malformed)
    }

    /// Writes it, whole or not at all.
    pub fn write(&self, path: &Path) -> Result<(), ManifestError> {
        let io = |source| ManifestError::Io { verb: "write", path: path.to_owned(), source };
        let dir = path.parent().unwrap_or(Path::new("."));
        std::fs::create_dir_all(dir).map_err(io)?;
        let mut text = serde_json::to_vec_pretty(&Wire::from_manifest(self))
            .map_err(|error| io(io::Error::other(error)))?;
        text.push(b'\n');
        let mut file = andon_git::temporary_in(dir).map_err(io)?;
        file.write_all(&text).map_err(io)?;
        file.persist(path).map_err(|error| io(error.error))?;
        Ok(())
    }

    /// The entry of the hooks directory `dir`.
    pub fn place(&self, dir: &Path) -> Option<&HooksFolder> {
        self.places.iter().find(|place| place.dir == dir)
    }

    /// The entry of the edited file `path`.
    pub fn file(&self, path: &Path) -> Option<&EditedFile> {
        self.files.iter().find(|file| file.path == path)
    }

    /// The digest of the shim that was written for `hook` in `dir`.
    pub fn recorded(&self, dir: &Path, hook: Hook) -> Option<Digest> {
        self.place(dir).and_then(|place| place.shims.get(&hook)).copied()
    }
}

/// On disk. Paths are text where they can be, bytes where they are not.
#[derive(Serialize, Deserialize)]
struct Wire {
    schema: String,
    places: Vec<WirePlace>,
    display_refs: Vec<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    fetch: Vec<(String, String)>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    mode: Option<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    files: Vec<WireFile>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    hook_keys: Vec<(String, String)>,
}

#[derive(Serialize, Deserialize)]
struct WireFile {
    path: WirePath,
    birth: Birth,
    inserted: Vec<String>,
}

#[derive(Serialize, Deserialize)]
struct WirePlace {
    dir: WirePath,
    created: Vec<WirePath>,
    shims: BTreeMap<String, String>,
}

#[derive(Serialize, Deserialize)]
#[serde(untagged)]
enum WirePath {
    Text(String),
    Bytes(Vec<u8>),
}

impl WirePath {
    fn from_path(path: &Path) -> Self {
        match path.to_str() {
            Some(text) => Self::Text(text.to_owned()),
            None => Self::Bytes(bytes_of(path.as_os_str()).into_owned()),
        }
    }

    /// Only absolute paths: a relative one would mean another folder wherever it is read.
    fn into_path(self) -> Result<PathBuf, String> {
        let path = match self {
            Self::Text(text) => PathBuf::from(text),
            Self::Bytes(bytes) => path_from_bytes(&bytes),
        };
        if path.is_absolute() {
            Ok(path)
        } else {
            Err(format!("the directory {} is not absolute", path.display()))
        }
    }
}

impl Wire {
    fn from_manifest(manifest: &Manifest) -> Self {
        let places = manifest.places.iter().map(|place| WirePlace {
            dir: WirePath::from_path(&place.dir),
            created: place.created.iter().map(|dir| WirePath::from_path(dir)).collect(),
            shims: place.shims.iter().map(|(hook, sum)| (hook.name().to_owned(), sum.to_string())).collect(),
        });
        Self {
            schema: SCHEMA.to_owned(),
            places: places.collect(),
            display_refs: manifest.display_refs.clone(),
            fetch: manifest.fetch.clone(),
            mode: manifest.mode.map(|mode| mode.as_str().to_owned()),
            files: manifest.files.iter().map(WireFile::from_file).collect(),
            hook_keys: manifest.hook_keys.clone(),
        }
    }

    fn into_manifest(self) -> Result<Manifest, String> {
        if self.schema != SCHEMA {
            return Err(format!(
                "its schema is {:?}, not {SCHEMA:?}",
                self.schema.chars().take(40).collect::<String>()
            ));
        }
        let places = self.places.into_iter().map(|place| {
            let dir = place.dir.into_path()?;
            let created =
                place.created.into_iter().map(WirePath::into_path).collect::<Result<Vec<_>, String>>()?;
            let mut shims = BTreeMap::new();
            for (name, sum) in place.shims {
                // A hook of a newer version: not ours to judge, its shim is known by its bytes.
                let Some(hook) = Hook::from_name(&name) else { continue };
                shims.insert(hook, sum.parse::<Digest>().map_err(|error| error.to_string())?);
            }
            Ok(HooksFolder { dir, created, shims })
        });
        let places = places.collect::<Result<_, String>>()?;
        Ok(Manifest {
            places,
            display_refs: self.display_refs,
            fetch: self.fetch,
            // A manifest of a newer version is no reason to fail: the files next to it show what to remove.
            mode: self.mode.as_deref().and_then(Integration::from_name),
            files: self.files.into_iter().map(WireFile::into_file).collect::<Result<_, String>>()?,
            hook_keys: self.hook_keys,
        })
    }
}

impl WireFile {
    fn from_file(file: &EditedFile) -> Self {
        let path = WirePath::from_path(&file.path);
        Self { path, birth: file.birth, inserted: file.inserted.clone() }
    }

    fn into_file(self) -> Result<EditedFile, String> {
        Ok(EditedFile { path: self.path.into_path()?, birth: self.birth, inserted: self.inserted })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample() -> Manifest {
        let dir = path_from_bytes(b"/r/\xff\n'/hooks");
        let shims = BTreeMap::from([(Hook::PreCommit, Digest([7; 32]))]);
        Manifest {
            places: vec![
                HooksFolder { dir: dir.clone(), created: vec![dir], shims },
                HooksFolder { dir: "/x/h".into(), created: Vec::new(), shims: BTreeMap::new() },
            ],
            display_refs: vec!["refs/notes/andon".into()],
            fetch: vec![("remote.origin.fetch".into(), "+a*:b*".into())],
            mode: Some(Integration::Husky),
            files: vec![EditedFile {
                path: "/r/.husky/x".into(),
                birth: Birth::Made,
                inserted: vec!["a".into()],
            }],
            hook_keys: vec![("hook.andon-pre-commit.event".into(), "pre-commit".into())],
        }
    }

    #[test]
    fn a_manifest_comes_back() {
        let dir = tempfile::tempdir().unwrap();
        let path = Manifest::path(dir.path());
        assert_eq!(Manifest::read(&path).unwrap(), None);
        sample().write(&path).unwrap();
        assert_eq!(Manifest::read(&path).unwrap(), Some(sample()));
        assert_eq!(sample().recorded(&sample().places[0].dir, Hook::PreCommit), Some(Digest([7; 32])));
        assert_eq!(sample().recorded(Path::new("/x/h"), Hook::PreCommit), None);
    }

    #[test]
    fn what_is_no_manifest_is_refused_by_name() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("install.json");
        let huge = " ".repeat(1024 * 1024 + 1);
        let cases = [
            ("", "EOF"),
            ("{", "EOF"),
            ("[]", "line 1"),
            (r#"{"schema":"andon/install@2","places":[],"display_refs":[]}"#, "andon/install@2"),
            (
                r#"{"schema":"andon/install@1","places":[{"dir":"../x","created":[],"shims":{}}],"display_refs":[]}"#,
                "absolute",
            ),
            (
                r#"{"schema":"andon/install@1","places":[{"dir":"/x","created":[],"shims":{"pre-commit":"zz"}}],"display_refs":[]}"#,
                "64 digits",
            ),
            (huge.as_str(), "larger"),
        ];
        for (text, wanted) in cases {
            std::fs::write(&path, text).unwrap();
            let error = Manifest::read(&path).unwrap_err().to_string();
            assert!(error.contains(wanted) && error.contains("install.json"), "{error}");
        }
    }
}
