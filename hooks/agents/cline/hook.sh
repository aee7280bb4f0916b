#!/bin/sh
# Written by `andon agent install cline`; `andon agent uninstall cline` removes it.
command -v @ANDON@ >/dev/null || { echo '{}'; exit 0; }
exec @ANDON@ agent hook cline @EVENT@
