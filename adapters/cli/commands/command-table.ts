/** Every command that uses a running service, and those that need none. Help and completion follow from this table. */

import { wrongFlag } from '../read-flags.js'
import { ACCOUNT_COMMANDS, USER_COMMANDS } from './account-commands.js'
import { JOB_COMMANDS } from './bulk-commands.js'
import type { Command } from './command.js'
import { completionScript, SHELLS, type Shell } from './completion.js'
import { DELIVERY_COMMANDS } from './delivery-commands.js'
import { EVENT_COMMANDS } from './event-commands.js'
import { REPLAY_COMMANDS } from './replay-commands.js'
import { TOKEN_COMMANDS } from './token-commands.js'
import { VERIFY_COMMAND } from './verify-command.js'
import { WEBHOOK_COMMANDS } from './webhook-commands.js'
import { WHY_COMMAND } from './why-command.js'

/** The commands that group others, with one sentence each, in the order of the help. */
export const GROUPS: Readonly<Record<string, string>> = {
  accounts: 'accounts of a running service',
  users: 'users of an account',
  webhooks: 'webhooks of an account',
  deliveries: 'deliveries of a webhook and their states',
  attempts: 'requests to receivers: list them, or watch them live',
  replays: 'replays of many deliveries: their progress, pause and end',
  jobs: 'jobs that resume or enable webhooks of all accounts',
  events: 'publish events, list their kinds',
  token: 'log in for scripts',
}

const completion: Command = {
  words: ['completion'],
  summary: 'print the completion script of a shell',
  details: `Add to ~/.bashrc: source <(hookswitch completion bash)
Add to ~/.zshrc, after compinit: source <(hookswitch completion zsh)
For fish: hookswitch completion fish > ~/.config/fish/completions/hookswitch.fish`,
  operands: [{ name: 'SHELL', description: SHELLS.join(', ') }],
  isOffline: true,
  async run({ operand, output }) {
    const shell = SHELLS.find((shell) => shell === operand('SHELL')) as Shell | undefined
    if (!shell) throw wrongFlag('SHELL', `must be ${SHELLS.join(' or ')}`)
    const script = completionScript(shell, COMMANDS, GROUPS)
    await output.lines(script)
  },
}

export const COMMANDS: readonly Command[] = [
  ...ACCOUNT_COMMANDS,
  ...USER_COMMANDS,
  ...WEBHOOK_COMMANDS,
  ...DELIVERY_COMMANDS,
  WHY_COMMAND,
  ...REPLAY_COMMANDS,
  ...JOB_COMMANDS,
  ...EVENT_COMMANDS,
  ...TOKEN_COMMANDS,
  VERIFY_COMMAND,
  completion,
]
