"""How each client is run: its settings for a scripted model, its command line, its environment."""

import json
import os


def write(path, text):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)


class Client:
    """One client; `home` is fresh, `url` is where the scripted model listens."""

    name = ""
    settings = ""  # the file that `andon agent install` writes in a repository, or with `of_user` in the home
    of_user = False
    by_default = True  # whether it is run where no client is named
    markers = []  # what the client sets in its shell
    holds_turns = True  # whether a hook can keep a turn from ending
    blocks_prompts = False  # whether a hook keeps the prompt of a halted loop from the model
    rewrites = True  # whether a hook can change the arguments of a call

    @property
    def test(self):
        """What an agent that is stuck types: the plain command, where a hook makes something of it within any line."""
        return "sh tests.sh" if self.rewrites else "andon test"

    def prepare(self, home, repo, url):
        pass

    def env(self, home, url):
        return {}

    def argv(self):
        raise NotImplementedError


class Claude(Client):
    name = "claude"
    blocks_prompts = True
    settings = ".claude/settings.json"
    markers = ["CLAUDECODE", "CLAUDE_CODE_SESSION_ID", "AI_AGENT", "CLAUDE_CODE_ENTRYPOINT"]

    def env(self, home, url):
        return {"ANTHROPIC_BASE_URL": url, "ANTHROPIC_API_KEY": "sk-test", "DISABLE_AUTOUPDATER": "1",
                "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1", "IS_SANDBOX": "1"}

    def argv(self):
        return ["claude", "-p", "go", "--model", "claude-sonnet-4-5", "--permission-mode", "bypassPermissions"]


class Codex(Client):
    name = "codex"
    blocks_prompts = True
    settings = ".codex/hooks.json"
    markers = ["CODEX_THREAD_ID", "CODEX_SESSION_ID", "CODEX_CI", "CODEX_TOOL_CALL_ID"]

    def prepare(self, home, repo, url):
        write(os.path.join(home, ".codex/config.toml"), f"""model = "gpt-5.5"
model_provider = "fake"
[model_providers.fake]
name = "fake"
base_url = "{url}/v1"
wire_api = "responses"
env_key = "FAKE_KEY"
supports_websockets = false
[projects."{repo}"]
trust_level = "trusted"
""")

    def env(self, home, url):
        return {"FAKE_KEY": "sk-test", "CODEX_HOME": os.path.join(home, ".codex")}

    def argv(self):
        return ["codex", "exec", "--dangerously-bypass-approvals-and-sandbox", "--dangerously-bypass-hook-trust", "go"]


class Gemini(Client):
    name = "gemini"
    blocks_prompts = True
    settings = ".gemini/settings.json"
    markers = ["GEMINI_CLI"]

    def prepare(self, home, repo, url):
        write(os.path.join(home, ".gemini/settings.json"),
              json.dumps({"security": {"auth": {"selectedType": "gemini-api-key"}}, "telemetry": {"enabled": False},
                          "privacy": {"usageStatisticsEnabled": False}, "general": {"disableAutoUpdate": True}}))
        # What the person answers when Gemini asks; --skip-trust alone runs no hooks of a project.
        write(os.path.join(home, ".gemini/trustedFolders.json"), json.dumps({repo: "TRUST_FOLDER"}))

    def env(self, home, url):
        return {"GEMINI_API_KEY": "sk-test", "GOOGLE_GEMINI_BASE_URL": url}

    def argv(self):
        return ["gemini", "-p", "go", "--yolo", "--skip-trust", "-m", "gemini-2.5-pro"]


class Qwen(Client):
    name = "qwen"
    blocks_prompts = True
    settings = ".qwen/settings.json"
    markers = ["QWEN_CODE", "QWEN_CODE_SESSION_ID"]
    rewrites = False

    def prepare(self, home, repo, url):
        write(os.path.join(home, ".qwen/settings.json"),
              json.dumps({"$version": 4, "privacy": {"usageStatisticsEnabled": False}, "telemetry": {"enabled": False},
                          "general": {"enableAutoUpdate": False}}))

    def env(self, home, url):
        return {"OPENAI_API_KEY": "sk-test", "OPENAI_BASE_URL": url + "/v1", "OPENAI_MODEL": "fake-model"}

    def argv(self):
        return ["qwen", "-p", "go", "--yolo", "--auth-type", "openai"]


class Copilot(Client):
    name = "copilot"
    blocks_prompts = True
    settings = ".github/hooks/andon.json"
    markers = ["COPILOT_CLI", "COPILOT_AGENT_SESSION_ID"]

    def env(self, home, url):
        return {"COPILOT_PROVIDER_TYPE": "openai", "COPILOT_PROVIDER_BASE_URL": url + "/v1", "COPILOT_OFFLINE": "true",
                "COPILOT_PROVIDER_API_KEY": "sk-test", "COPILOT_MODEL": "fake-model"}

    def argv(self):
        return ["copilot", "-p", "go", "--allow-all-tools", "--allow-all-paths", "--trust-folder"]


class Opencode(Client):
    name = "opencode"
    settings = ".opencode/plugin/andon.js"
    markers = ["OPENCODE", "AGENT", "OPENCODE_PID"]
    holds_turns = False

    def prepare(self, home, repo, url):
        write(os.path.join(home, ".config/opencode/opencode.json"), self.provider(url))

    def provider(self, url):
        provider = {"npm": "@ai-sdk/openai-compatible", "options": {"baseURL": url + "/v1", "apiKey": "sk-test"},
                    "models": {"fake-model": {"name": "fake"}}}
        return json.dumps({"autoupdate": False, "share": "disabled", "provider": {"fake": provider}})

    def env(self, home, url):
        return {"OPENCODE_DISABLE_MODELS_FETCH": "1", "npm_config_offline": "true", "OPENCODE_DISABLE_AUTOUPDATE": "1"}

    def argv(self):
        return ["opencode", "run", "-m", "fake/fake-model", "go"]


class Kilo(Opencode):
    name = "kilo"
    by_default = False
    settings = ".kilo/plugin/andon.js"
    markers = ["KILO", "OPENCODE", "AGENT", "KILO_PID"]

    def prepare(self, home, repo, url):
        write(os.path.join(home, ".config/kilo/kilo.json"), self.provider(url))

    def env(self, home, url):
        return {"KILO_DISABLE_MODELS_FETCH": "1", "KILO_DISABLE_AUTOUPDATE": "1", "KILO_TELEMETRY_LEVEL": "off",
                "npm_config_offline": "true"}

    def argv(self):
        return ["kilo", "run", "-m", "fake/fake-model", "--auto", "go"]


class Pi(Client):
    name = "pi"
    settings = ".pi/extensions/andon.js"
    markers = ["PI_CODING_AGENT", "PI_SESSION_ID", "AI_AGENT", "AGENT"]

    def prepare(self, home, repo, url):
        provider = {"baseUrl": url + "/v1", "api": "openai-completions", "apiKey": "sk-test",
                    "models": [{"id": "fake-model"}]}
        write(os.path.join(home, ".pi/agent/models.json"), json.dumps({"providers": {"fake": provider}}))

    def env(self, home, url):
        return {"PI_OFFLINE": "1", "PI_SKIP_VERSION_CHECK": "1", "PI_TELEMETRY": "0"}

    def argv(self):
        # What the person answers when pi asks whether the folder is trusted.
        return ["pi", "-p", "--approve", "--provider", "fake", "--model", "fake-model", "go"]


class Droid(Client):
    name = "droid"
    settings = ".factory/settings.json"

    def prepare(self, home, repo, url):
        model = {"model": "fake-model", "id": "custom:fake-0", "displayName": "fake", "baseUrl": url + "/v1",
                 "apiKey": "sk-test", "provider": "generic-chat-completion-api", "maxOutputTokens": 8192}
        write(os.path.join(home, ".factory/settings.json"), json.dumps({"customModels": [model]}))

    def env(self, home, url):
        return {"FACTORY_API_KEY": "fk-test", "FACTORY_DISABLE_TELEMETRY": "1", "DROID_DISABLE_AUTO_UPDATE": "true"}

    def argv(self):
        return ["droid", "exec", "--skip-permissions-unsafe", "-m", "custom:fake-0", "go"]


class Kimi(Client):
    name = "kimi"
    blocks_prompts = True
    settings = ".kimi-code/config.toml"
    of_user = True
    rewrites = False

    def env(self, home, url):
        return {"KIMI_MODEL_NAME": "fake-model", "KIMI_MODEL_API_KEY": "sk-test", "KIMI_MODEL_PROVIDER_TYPE": "openai",
                "KIMI_MODEL_BASE_URL": url + "/v1", "KIMI_DISABLE_TELEMETRY": "1", "KIMI_CODE_NO_AUTO_UPDATE": "1"}

    def argv(self):
        return ["kimi", "-p", "go"]


CLIENTS = {one.name: one() for one in (Claude, Codex, Gemini, Qwen, Copilot, Opencode, Kilo, Pi, Droid, Kimi)}
