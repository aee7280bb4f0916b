//! Signing by `ssh-keygen -Y sign`: the key file, the agent's key or the security key that git's own set-up names.

use std::io::{self, Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use super::key::{BadKey, PublicKey};

/// The program. One of the repository's choice (`gpg.ssh.program`) could call any signature good.
const KEYGEN: &str = "ssh-keygen";
/// Most bytes of a key file, of a signature, and of what the program says.
const MAX_BYTES: u64 = 64 * 1024;

/// The settings of git for signing.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SigningSetup {
    /// `gpg.format`.
    pub format: Option<String>,
    /// `user.signingKey`.
    pub key: Option<String>,
    /// The folder that `~` means.
    pub home: Option<PathBuf>,
    /// The folder in which relative paths begin.
    pub dir: PathBuf,
}

/// The reason for which nothing could be signed.
#[derive(Debug, thiserror::Error)]
pub enum SigningError {
    /// git is not set up to sign with SSH keys.
    #[error("git is not set up to sign with an SSH key: {0}")]
    NoSetup(&'static str),
    /// The key file cannot be read.
    #[error("the signing key {} cannot be read: {source}", path.display())]
    NoFile { path: PathBuf, source: io::Error },
    /// It holds no public key.
    #[error("the signing key {} is of no use: {why}", path.display())]
    BadFile { path: PathBuf, why: BadKey },
    /// The program `ssh-keygen` is missing.
    #[error("ssh-keygen could not be started: {0}")]
    NoProgram(io::Error),
    /// The program did not sign.
    #[error("nothing was signed: ssh-keygen says: {0}")]
    Refused(String),
}

/// The holder of the private half.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Holder {
    /// In this file or next to it, or in the agent.
    File(PathBuf),
    /// In the agent alone: the setting holds the public key itself.
    Agent,
}

/// A key that can sign.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Signer {
    holder: Holder,
    public: PublicKey,
}

impl Signer {
    /// The key that `setup` names. Nothing is signed yet.
    ///
    /// # Errors
    /// [`SigningError`] when there is none or its public half cannot be read.
    pub fn find(setup: &SigningSetup) -> Result<Self, SigningError> {
        if setup.format.as_deref() != Some("ssh") {
            return Err(SigningError::NoSetup("gpg.format is not ssh"));
        }
        let named = setup.key.as_deref().map(str::trim).filter(|key| !key.is_empty());
        let named = named.ok_or(SigningError::NoSetup("user.signingKey is not set"))?;
        let literal = named.strip_prefix("key::").or_else(|| named.starts_with("ssh-").then_some(named));
        if let Some(literal) = literal {
            let bad = |why| SigningError::BadFile { path: PathBuf::from(named), why };
            return Ok(Self { holder: Holder::Agent, public: PublicKey::parse(literal).map_err(bad)? });
        }
        let path = match (named.strip_prefix("~/"), &setup.home) {
            (Some(rest), Some(home)) => home.join(rest),
            (_, _) => setup.dir.join(named),
        };
        let public = public_half(&path)?;
        Ok(Self { holder: Holder::File(path), public })
    }

    pub fn public(&self) -> &PublicKey {
        &self.public
    }

    /// Signs `message` for `namespace`: the armoured signature. A passphrase, a PIN or a touch may be asked for.
    ///
    /// # Errors
    /// [`SigningError`]; then nothing was signed.
    pub fn sign(&self, namespace: &str, message: &[u8]) -> Result<String, SigningError> {
        match &self.holder {
            Holder::File(path) => self.run(namespace, path, message),
            Holder::Agent => {
                let io = SigningError::NoProgram;
                let mut file = tempfile::NamedTempFile::new().map_err(io)?;
                writeln!(file, "{}", self.public).map_err(io)?;
                file.flush().map_err(io)?;
                self.run(namespace, file.path(), message)
            }
        }
    }

    fn run(&self, namespace: &str, file: &Path, message: &[u8]) -> Result<String, SigningError> {
        #[allow(clippy::disallowed_methods, reason = "the door to ssh-keygen")]
        let mut command = Command::new(KEYGEN);
        command.args(["-q", "-Y", "sign", "-n", namespace, "-f"]).arg(file);
        if self.holder == Holder::Agent {
            command.arg("-U");
        }
        // A security key is to be touched: the program says so itself.
        let said = if self.public.is_hardware() { Stdio::inherit() } else { Stdio::piped() };
        command.env("LC_ALL", "C").stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(said);
        let mut child = command.spawn().map_err(SigningError::NoProgram)?;
        if let Some(mut stdin) = child.stdin.take() {
            // One that ends early says why itself.
            let _broken = stdin.write_all(message);
        }
        let output = child.wait_with_output().map_err(SigningError::NoProgram)?;
        let armour = String::from_utf8_lossy(&output.stdout).into_owned();
        if !output.status.success() || armour.len() as u64 > MAX_BYTES {
            let said = String::from_utf8_lossy(&output.stderr);
            let last = said.lines().map(str::trim).rfind(|line| !line.is_empty());
            return Err(SigningError::Refused(last.unwrap_or("no reason").chars().take(300).collect()));
        }
        Ok(armour)
    }
}

/// The public half of the key at `path`: the file itself, or the one next to it.
fn public_half(path: &Path) -> Result<PublicKey, SigningError> {
    let read = |path: &Path| {
        let error = |source| SigningError::NoFile { path: path.to_path_buf(), source };
        let mut text = String::new();
        std::fs::File::open(path).map_err(error)?.take(MAX_BYTES).read_to_string(&mut text).map_err(error)?;
        PublicKey::parse(&text).map_err(|why| SigningError::BadFile { path: path.to_path_buf(), why })
    };
    match read(path) {
        Err(SigningError::BadFile { why: BadKey::Private, .. }) => {
            let mut beside = path.as_os_str().to_owned();
            beside.push(".pub");
            read(Path::new(&beside))
        }
        found => found,
    }
}
