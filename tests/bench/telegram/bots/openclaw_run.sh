#!/usr/bin/env bash
# openclaw as an agent peer: its own gateway, with the fake Bot API and the fake model (LLM_BASE). NODE24 is a node of version
# 24, OC_MODULES the folder node_modules that holds openclaw.
set -euo pipefail

export HOME="${TG_DATA:?}"
port="$(python3 -c 'import socket; print(socket.create_server(("127.0.0.1", 0)).getsockname()[1])')"
mkdir -p "$HOME/.openclaw"
cat >"$HOME/.openclaw/openclaw.json" <<CONFIGURATION
{
  "gateway": { "mode": "local", "port": $port, "bind": "loopback", "auth": { "mode": "token", "token": "bench" } },
  "channels": {
    "telegram": { "enabled": true, "botToken": "$TG_TOKEN", "apiRoot": "$TG_BASE", "dmPolicy": "open", "allowFrom": ["*"] }
  },
  "agents": { "defaults": { "model": { "primary": "fake/fake-model" }, "workspace": "$HOME/workspace" } },
  "models": {
    "providers": {
      "fake": {
        "baseUrl": "${LLM_BASE:-http://127.0.0.1:9900/v1}",
        "apiKey": "x",
        "api": "openai-completions",
        "models": [{ "id": "fake-model", "name": "fake", "contextWindow": 200000, "maxTokens": 4096 }]
      }
    }
  }
}
CONFIGURATION
exec "${NODE24:?}" "${OC_MODULES:?}/openclaw/openclaw.mjs" gateway --port "$port" --allow-unconfigured
