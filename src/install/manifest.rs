//! The changes of installing, so that uninstalling can change exactly these back.
//!
//! Shims are known by their own bytes (`shim`), so that a lost manifest loses little: the folder that was
//! made for them and the added `notes.displayRef` stay. It lives in the common git directory and is written
//! before the first hook is touched: an entry for a hook that never came to be does no harm, a hook without
//! an entry might.

use std::path::{Path, PathBuf};
use std::{collections::BTreeMap, io};

use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error as _};

use super::{InstallError, Integration, Result};
use andon_core::domain::{Digest, GitHook};
use andon_git::Repo;
use andon_git::platform::paths::{bytes_of, path_from_bytes};

const SCHEMA: &str = "andon/install@1";

/// A manifest is a kilobyte per hooks directory; more than this is no manifest.
const MAX_BYTES: u64 = 1024 * 1024;

/// One hooks directory into which Andon was installed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct HooksFolder {
    pub dir: AbsolutePath,
    /// The directories that were made for the hooks, outermost first; empty when `dir` was there.
    pub created: Vec<AbsolutePath>,
    /// The digest of each shim as written, by the name of its hook, which may be one of a newer version.
    pub shims: BTreeMap<String, Digest>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Birth {
    /// It was there, and stays when our lines are taken out.
    There,
    /// The file is there because Andon made it.
    Made,
}

/// A file of another owner with lines of ours.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct EditedFile {
    pub path: AbsolutePath,
    pub birth: Birth,
    /// The lines that were put in, byte for byte.
    pub inserted: Vec<String>,
}

/// Everything that installing changed in one repository.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Manifest {
    /// Usually one; more when `core.hooksPath` changed between two installs.
    pub places: Vec<HooksFolder>,
    /// The values that were added to `notes.displayRef`.
    pub display_refs: Vec<String>,
    /// The fetch refspecs that were added: key (`remote.NAME.fetch`) and value.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub fetch: Vec<(String, String)>,
    /// `None` in a manifest from before there was a choice. One of a newer version is no reason to fail either: the files
    /// beside it show what to remove.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "known_mode")]
    pub mode: Option<Integration>,
    /// Files of others with lines of ours.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub files: Vec<EditedFile>,
    /// The hooks in the configuration: key and value.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub hook_keys: Vec<(String, String)>,
}

/// A path that means the same folder wherever it is read: text where it can be, bytes where it is not.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AbsolutePath(pub PathBuf);

impl std::ops::Deref for AbsolutePath {
    type Target = PathBuf;

    fn deref(&self) -> &PathBuf {
        &self.0
    }
}

impl Serialize for AbsolutePath {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.0.to_str() {
            Some(text) => serializer.serialize_str(text),
            None => serializer.collect_seq(bytes_of(self.0.as_os_str()).iter()),
        }
    }
}

impl<'de> Deserialize<'de> for AbsolutePath {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        #[serde(untagged)]
        enum Stored {
            Text(String),
            Bytes(Vec<u8>),
        }
        let path = match Stored::deserialize(deserializer)? {
            Stored::Text(text) => PathBuf::from(text),
            Stored::Bytes(bytes) => path_from_bytes(&bytes),
        };
        if path.is_absolute() {
            return Ok(Self(path));
        }
        Err(D::Error::custom(format!("the directory {} is not absolute", path.display())))
    }
}

fn known_mode<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Integration>, D::Error> {
    let name = Option::<String>::deserialize(deserializer)?;
    Ok(name.as_deref().and_then(Integration::from_name))
}

#[derive(Serialize)]
struct Stored<'a> {
    schema: &'static str,
    /// The common git directory: where that is another one by now, the repository was moved or copied.
    home: &'a AbsolutePath,
    #[serde(flatten)]
    manifest: &'a Manifest,
}

#[derive(Deserialize)]
struct Schema {
    schema: String,
    home: Option<AbsolutePath>,
}

impl Manifest {
    /// The place of the manifest of the repository with this common git directory.
    pub fn path(common_dir: &Path) -> PathBuf {
        common_dir.join("andon").join("install.json")
    }

    /// The manifest of `repo`; an empty one where there is none.
    pub fn of(repo: &Repo) -> Result<Self> {
        Ok(Self::read(&Self::path(repo.common_dir()))?.unwrap_or_default())
    }

    /// Reads it. `None` when there is none.
    pub fn read(path: &Path) -> Result<Option<Self>> {
        let io = |source| InstallError::io("read", path, source);
        let malformed = |why: String| InstallError::Manifest { path: path.to_owned(), why };
        if path.symlink_metadata().is_ok_and(|facts| !facts.is_file()) {
            return Err(malformed("it is no file, but a link, a pipe or a device".to_owned()));
        }
        let Some(bytes) = andon_git::read_plain(path, MAX_BYTES).map_err(io)? else {
            let is_long = path.exists();
            return if is_long { Err(malformed(format!("larger than {MAX_BYTES} bytes"))) } else { Ok(None) };
        };
        let read = || -> serde_json::Result<(Schema, Option<Self>)> {
            let schema: Schema = serde_json::from_slice(&bytes)?;
            let known = schema.schema == SCHEMA;
            Ok((schema, if known { Some(serde_json::from_slice(&bytes)?) } else { None }))
        };
        match read().map_err(|error| malformed(error.to_string()))? {
            (Schema { home, .. }, Some(manifest)) => Ok(Some(manifest.at_home(path, home))),
            (Schema { schema, .. }, None) => {
                let schema: String = schema.chars().take(40).collect();
                Err(malformed(format!("its schema is {schema:?}, not {SCHEMA:?}")))
            }
        }
    }

    /// The same with the paths of a repository that was moved or copied since they were written: they are those of where it
    /// is now. A manifest of an earlier version tells its directory by that of the hooks.
    fn at_home(mut self, path: &Path, home: Option<AbsolutePath>) -> Self {
        let mut hooks =
            self.places.iter().filter(|place| place.dir.ends_with(".git/hooks") && !place.dir.exists());
        let by_hooks = hooks.find_map(|place| place.dir.parent()).map(Path::to_owned);
        let then = home.map(|home| home.0).or(by_hooks);
        let now = path.parent().and_then(Path::parent);
        let (Some(then), Some(now)) = (then, now.filter(|now| now.is_absolute())) else { return self };
        if then == now {
            return self;
        }
        let trees = [(Some(&*then), Some(now)), (then.parent(), now.parent())];
        let move_along = |path: &mut AbsolutePath| {
            let mut moved = trees
                .iter()
                .filter_map(|(then, now)| Some(now.as_ref()?.join(path.strip_prefix((*then)?).ok()?)));
            if let Some(moved) = moved.next() {
                path.0 = moved;
            }
        };
        for place in &mut self.places {
            move_along(&mut place.dir);
            place.created.iter_mut().for_each(move_along);
        }
        self.files.iter_mut().for_each(|file| move_along(&mut file.path));
        self
    }

    /// Writes it, whole or not at all.
    pub fn write(&self, path: &Path) -> Result<()> {
        let io = |source| InstallError::io("write", path, source);
        let dir = path.parent().unwrap_or(Path::new("."));
        let home = AbsolutePath(dir.parent().unwrap_or(dir).to_owned());
        let stored = Stored { schema: SCHEMA, home: &home, manifest: self };
        let mut text = serde_json::to_vec_pretty(&stored).map_err(|error| io(io::Error::other(error)))?;
        text.push(b'\n');
        andon_git::replace_plain(path, &text).map_err(io)
    }

    /// This one, with the entries that only `other` has.
    #[must_use]
    pub fn with(&self, other: &Self) -> Self {
        let mut both = self.clone();
        let is_new = |file: &&EditedFile| self.file(&file.path).is_none();
        both.files.extend(other.files.iter().filter(is_new).cloned());
        for (values, others) in [(&mut both.fetch, &other.fetch), (&mut both.hook_keys, &other.hook_keys)] {
            let missing: Vec<_> = others.iter().filter(|one| !values.contains(one)).cloned().collect();
            values.extend(missing);
        }
        for place in &other.places {
            match both.places.iter_mut().find(|known| known.dir == place.dir) {
                Some(known) => {
                    known.shims = place.shims.clone().into_iter().chain(known.shims.clone()).collect();
                }
                None => both.places.push(place.clone()),
            }
        }
        both
    }

    /// The entry of the edited file `path`.
    pub fn file(&self, path: &Path) -> Option<&EditedFile> {
        self.files.iter().find(|file| *file.path == path)
    }

    /// The digest of the shim that was written for `hook` in `dir`.
    pub fn recorded(&self, dir: &Path, hook: GitHook) -> Option<Digest> {
        let place = self.places.iter().find(|place| *place.dir == dir)?;
        place.shims.get(hook.name()).copied()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample() -> Manifest {
        let dir = AbsolutePath(path_from_bytes(b"/r/\xff\n'/hooks"));
        let shims = BTreeMap::from([("pre-commit".to_owned(), Digest([7; 32]))]);
        Manifest {
            places: vec![
                HooksFolder { dir: dir.clone(), created: vec![dir], shims },
                HooksFolder { dir: AbsolutePath("/x/h".into()), created: Vec::new(), shims: BTreeMap::new() },
            ],
            display_refs: vec!["refs/notes/andon".into()],
            fetch: vec![("remote.origin.fetch".into(), "+a*:b*".into())],
            mode: Some(Integration::Husky),
            files: vec![EditedFile {
                path: AbsolutePath("/r/.husky/x".into()),
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
        assert_eq!(sample().recorded(&sample().places[0].dir, GitHook::PreCommit), Some(Digest([7; 32])));
        assert_eq!(sample().recorded(Path::new("/x/h"), GitHook::PreCommit), None);
    }

    #[test]
    fn what_is_no_manifest_is_refused_by_name() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("install.json");
        sample().write(&path).unwrap();
        let most = usize::try_from(MAX_BYTES).unwrap();
        let mut whole = std::fs::read_to_string(&path).unwrap();
        whole += &" ".repeat(most - whole.len());
        std::fs::write(&path, &whole).unwrap();
        assert_eq!(Manifest::read(&path).unwrap(), Some(sample()));
        let huge = whole + " ";
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
