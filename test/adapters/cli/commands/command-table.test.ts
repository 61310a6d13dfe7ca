import { describe, expect, it } from 'vitest'
import { flagsOf } from '../../../../adapters/cli/commands/arguments.js'
import { EXIT_CODES } from '../../../../adapters/cli/commands/command-help.js'
import { COMMANDS, GROUPS } from '../../../../adapters/cli/commands/command-table.js'
import { exitCodeOf } from '../../../../adapters/cli/commands/run-command.js'
import { MAIN_HELP } from '../../../../adapters/cli/help.js'
import { HookswitchClientError } from '../../../../adapters/client/index.js'
import { runHere } from './harness.js'

describe('the table of commands', () => {
  it('has every first word in the help of the program', () => {
    const words = new Set(COMMANDS.map(({ words: [first] }) => first!))
    for (const word of words) expect([word, MAIN_HELP.includes(word)]).toEqual([word, true])
    const grouped = COMMANDS.filter(({ words: [, second] }) => second).map(({ words: [first] }) => first!)
    expect([...new Set(grouped)].sort()).toEqual(Object.keys(GROUPS).sort())
  })

  it('uses each flag in one way: completion depends on its name alone', () => {
    const kinds = new Map<string, string>()
    for (const command of COMMANDS) {
      const names = flagsOf(command).map(({ name }) => name)
      expect(new Set(names).size).toBe(names.length)
      for (const { name, value, isFile, values } of flagsOf(command)) {
        const kind = JSON.stringify([value !== undefined, isFile, values])
        expect([name, kinds.get(name) ?? kind]).toEqual([name, kind])
        kinds.set(name, kind)
      }
    }
  })

  it('has no flag for a secret itself', () => {
    const names = COMMANDS.flatMap(flagsOf).map(({ name }) => name)
    expect(names.filter((name) => /(key|password|secret|token)$/.test(name))).toEqual([])
  })

  it.each(COMMANDS.map((command) => [command.words.join(' '), command] as const))(
    '%s explains every flag and operand',
    async (_, command) => {
      const { code, stdout, stderr } = await runHere([...command.words, '--help'])
      expect([code, stderr]).toEqual([0, ''])
      expect(stdout.startsWith(`Usage: hookswitch ${command.words.join(' ')} `)).toBe(true)
      for (const { name } of flagsOf(command)) expect(stdout).toContain(`\n  --${name}`)
      for (const { name } of command.operands ?? []) expect(stdout).toContain(`\n  ${name}`)
      for (const line of stdout.split('\n')) expect(line.length).toBeLessThanOrEqual(110)
    },
  )

  it.each(Object.keys(GROUPS))('%s shows its commands, with and without --help', async (word) => {
    const { code, stdout } = await runHere([word])
    expect(code).toBe(0)
    expect(await runHere([word, '--help'])).toEqual(await runHere([word, '-h']))
    for (const { words } of COMMANDS.filter(({ words: [first] }) => first === word)) {
      expect(stdout).toContain(`\n  ${words[1]}`)
    }
  })
})

describe('wrong arguments', () => {
  it.each([
    [
      ['acounts', 'list'],
      /^unknown command 'acounts' \(did you mean 'accounts'\?\), see 'hookswitch --help'$/,
    ],
    [['serv'], /^unknown command 'serv' \(did you mean 'serve'\?\)/],
    [['rotate-secrt'], /^unknown command 'rotate-secrt' \(did you mean 'rotate-secret'\?\)/],
    [['confg', 'print'], /^unknown command 'confg' \(did you mean 'config'\?\)/],
    [['--account=acme', 'users', 'list'], /^--account: flags follow the command, see 'hookswitch --help'$/],
    [['xyzzy'], /^unknown command 'xyzzy', see 'hookswitch --help'$/],
    [['webhooks', 'crate'], /^unknown command 'webhooks crate' \(did you mean 'webhooks create'\?\)/],
    [
      ['webhooks', 'list', '--jsn'],
      /^--jsn: is unknown \(did you mean '--json'\?\), see 'hookswitch webhooks list/,
    ],
    [['webhooks', 'list', '--json=1'], /^--json: takes no value$/],
    [['webhooks', 'list', '--limit'], /^--limit: needs a value$/],
    [['webhooks', 'list', '--limit', '--json'], /^--limit: needs a value$/],
    [['webhooks', 'list', '--limit', '0'], /^--limit: must be an integer of at least 1, not '0'$/],
    [['webhooks', 'list', '--url', 'a', '--url', 'b'], /^--url: was given twice$/],
    [['webhooks', 'list', '--url', 'http://u:geheim@h/'], /^--url: must not contain a user or password$/],
    [['webhooks', 'list', '--timeout', '1e3'], /^--timeout: must be an integer/],
    [['webhooks', 'list', '--api-key', 'geheim'], /^--api-key: is not accepted.*HOOKSWITCH_API_KEY/],
    [
      ['webhooks', 'list', '--api-key-file', '/nowhere/key'],
      /^--api-key-file: \/nowhere\/key cannot be read/,
    ],
    [['webhooks', 'get'], /^WEBHOOK: is missing, see 'hookswitch webhooks get --help'$/],
    [['webhooks', 'get', 'a', 'b'], /^'b': is one argument too many/],
    [['webhooks', 'get', '..'], /^webhookId: must not be a dot segment$/],
    [['webhooks', 'delete', 'w'], /^--yes: is required: the webhook cannot be restored$/],
    [['webhooks', 'create', '--set', 'x'], /^--set: must be FIELD=TEXT or FIELD:=JSON$/],
    [['webhooks', 'create', '--set', 'a..b=1'], /^--set: must be FIELD=TEXT or FIELD:=JSON$/],
    [['webhooks', 'create', '--set', 'a.b:={'], /^--set: a\.b: is not JSON$/],
    [['webhooks', 'create', '--format', 'xml'], /^--format: must be json or form-data, not 'xml'$/],
    [['webhooks', 'create', '--data', '-'], /^--data: is not JSON$/],
    [['deliveries', 'list', 'w', '--from', 'yesterday'], /^--from: must be a time like/],
    [['attempts', 'list', '--webhook', 'w', '--call', 'c'], /^--call: cannot be combined with --webhook$/],
    [['replay'], /^WEBHOOK: is missing, or --account or --all instead of it$/],
    [['replay', 'w', '--all'], /^--all: cannot be combined with a webhook$/],
    [['replay', '--all', '--account', 'a'], /^--all: cannot be combined with --account$/],
    [['replay', '--delivery', 'd'], /^WEBHOOK: is missing$/],
    [['replay', 'w', '--delivery', 'd', '--wait'], /^--delivery: cannot be combined with --wait$/],
    [['replay', 'w', '--dry-run', '--wait'], /^--wait: cannot be combined with --dry-run$/],
    [['replays', 'show'], /^REPLAY: is missing/],
    [['replay', 'w', '--state', 'waiting'], /^--state: must be a state of deliveries that have ended/],
    [['replay', 'w', '--state', 'expired', '--result', 'failure'], /^--state: cannot be combined/],
    [['replay', 'w', '--delivery', 'd', '--from', '1h'], /^--delivery: cannot be combined with --from$/],
    [['erase', '--yes'], /^--call: is required/],
    [['erase', '--number', '1'], /^--yes: is required/],
    [['accounts', 'move', 'a'], /^--to: is required/],
    [['token', 'revoke'], /^HOOKSWITCH_TOKEN: is required/],
    [['verify'], /^--headers: is required/],
    [['completion', 'tcsh'], /^SHELL: must be bash or zsh or fish$/],
    [['events', 'publish', '-'], /^FILE: holds no event$/],
  ])('%j: exit 2 and one sentence', async (argv, sentence) => {
    const env = argv[0] === 'token' ? {} : { HOOKSWITCH_API_KEY: 'key', HOOKSWITCH_URL: 'http://127.0.0.1:9' }
    const { code, stdout, stderr } = await runHere(argv, { env })
    expect([code, stdout]).toEqual([2, ''])
    expect(stderr).toMatch(/^hookswitch: .*\n$/)
    expect(stderr.slice('hookswitch: '.length, -1)).toMatch(sentence)
    expect(stderr).not.toContain('geheim')
  })

  it('a missing login names its variable', async () => {
    const { code, stderr } = await runHere(['webhooks', 'list'])
    expect([code, stderr]).toEqual([
      2,
      'hookswitch: HOOKSWITCH_API_KEY: is required by this call (or user or token)\n',
    ])
    const empty = await runHere(['webhooks', 'list'], { env: { HOOKSWITCH_API_KEY: '' } })
    expect(empty.stderr).toBe('hookswitch: HOOKSWITCH_API_KEY: must not be empty\n')
  })
})

describe('the exit code', () => {
  it.each([
    [400, 2],
    [401, 3],
    [403, 3],
    [404, 4],
    [409, 5],
    [412, 5],
    [423, 3],
    [429, 6],
    [500, 1],
    [503, 6],
  ])('of status %i is %i', (status, code) => {
    expect(exitCodeOf(new HookswitchClientError('x', 'x', { status }))).toBe(code)
    expect(EXIT_CODES.map(([exitCode]) => exitCode)).toContain(code)
  })

  it('of other errors follows from their code', () => {
    const codes = ['network', 'timeout', 'invalid_option', 'invalid_response', 'redirected']
    expect(codes.map((code) => exitCodeOf(new HookswitchClientError(code, '')))).toEqual([6, 6, 2, 1, 1])
    expect(exitCodeOf(new Error('x'))).toBe(1)
  })
})
