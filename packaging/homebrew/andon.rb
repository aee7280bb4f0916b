# In no tap: it builds the main branch of the clone that it lies in. brew install --HEAD ./packaging/homebrew/andon.rb
class Andon < Formula
  desc "Git-native circuit breaker for autonomous coding loops"
  homepage "https://github.com/andon/andon"
  license any_of: ["MIT", "Apache-2.0"]
  head "file://#{File.expand_path("../..", __dir__)}", using: :git, branch: "main"

  depends_on "cmake" => :build
  depends_on "rust" => :build

  def install
    system "cargo", "install", *std_cargo_args
    generate_completions_from_executable(bin/"andon", "completions", shells: [:bash, :zsh, :fish])
    (man1/"andon.1").write Utils.safe_popen_read(bin/"andon", "man")
  end

  test do
    system "git", "init", "-q", "."
    assert_match "not installed", shell_output("#{bin}/andon status")
  end
end
