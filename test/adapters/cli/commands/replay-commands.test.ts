import { describe, expect, it } from 'vitest'
import type { Command, CommandContext } from '../../../../adapters/cli/commands/command.js'
import { createOutput } from '../../../../adapters/cli/commands/output.js'
import { REPLAY_COMMANDS } from '../../../../adapters/cli/commands/replay-commands.js'
import type { HookswitchClient, ReplayJob } from '../../../../adapters/client/index.js'

const job = (changes: Partial<ReplayJob> = {}): ReplayJob => ({
  id: 'r1',
  account_id: 'a',
  state: 'running',
  count: 1204,
  replayed: 0,
  created_at: '2030-01-15T12:00:00.000Z',
  include_recovered: false,
  left_out: [],
  automatic: false,
  ...changes,
})

interface Given {
  readonly operand?: string
  readonly flags?: Readonly<Record<string, string>>
  readonly switches?: readonly string[]
  /** What the service says of the job, look by look. */
  readonly progress?: readonly Partial<ReplayJob>[]
  /** Interrupts the command at this look. */
  readonly interruptAt?: number
}

/** Runs a command with a client that records its calls. Waiting takes no time. */
async function run(words: string, { operand, flags = {}, switches = [], progress = [], interruptAt }: Given) {
  const ending = new AbortController()
  const calls: unknown[][] = []
  const notes: string[] = []
  const printed: string[] = []
  let looks = 0
  const call = (name: string) => async (parameters: unknown) => {
    calls.push([name, parameters])
    if (looks === interruptAt) ending.abort()
    const isLook = name.startsWith('read')
    return { data: job(isLook ? progress[looks++] : {}) }
  }
  const names = ['replayWebhook', 'replayAccount', 'replayAllAccounts', 'readReplay', 'readAnyReplay']
  const client = Object.fromEntries([...names, 'setReplay', 'setAnyReplay'].map((name) => [name, call(name)]))
  const context: Partial<CommandContext> = {
    client: () => client as unknown as HookswitchClient,
    operand: () => operand,
    flag: (name) => flags[name],
    has: (name) => switches.includes(name),
    output: createOutput(
      { write: (text) => void printed.push(text) },
      { isJson: true, signal: ending.signal },
    ),
    signal: ending.signal,
    note: (sentence) => void notes.push(sentence),
    sleep: async () => {},
    now: () => Date.UTC(2030, 0, 15, 12),
  }
  const command = REPLAY_COMMANDS.find((candidate) => candidate.words.join(' ') === words) as Command
  const exitCode = await command.run(context as CommandContext).then(
    () => 0,
    (thrown: { exitCode?: number }) => thrown.exitCode ?? Promise.reject(thrown),
  )
  return { calls, notes, exitCode, document: JSON.parse(printed.join('')) }
}

describe('replay', () => {
  it.each<[string, Given, unknown[]]>([
    ['of a webhook', { operand: 'w' }, ['replayWebhook', { webhookId: 'w', data: {} }]],
    [
      'of a webhook of another account',
      { operand: 'w', flags: { account: 'a' } },
      ['replayWebhook', { webhookId: 'w', data: {} }],
    ],
    ['of an account', { flags: { account: 'a' } }, ['replayAccount', { data: {} }]],
    ['of all accounts', { switches: ['all', 'yes'] }, ['replayAllAccounts', { data: {} }]],
    [
      'of a selection',
      {
        flags: {
          account: 'a',
          from: '1h',
          to: '2030-01-15T11:30Z',
          state: 'expired',
          hook: 'channel_destroy',
          reason: 'queue_full',
          'call-id': 'c',
          number: '+493012345',
          host: 'crm.example.com',
        },
        switches: ['include-recovered', 'dry-run'],
      },
      [
        'replayAccount',
        {
          data: {
            created_from: 64_061_924_400,
            created_to: 64_061_926_200,
            result: 'expired',
            hook: 'channel_destroy',
            reason: 'queue_full',
            call_id: 'c',
            number: '+493012345',
            host: 'crm.example.com',
            include_recovered: true,
            dry_run: true,
          },
        },
      ],
    ],
    [
      'of one delivery',
      { operand: 'w', flags: { delivery: 'd' } },
      ['replayWebhook', { webhookId: 'w', data: { delivery_id: 'd' } }],
    ],
  ])('%s is one request, whose result is printed at once', async (_, given, expected) => {
    const { calls, notes, document } = await run('replay', given)
    expect(calls).toEqual([expected])
    expect(document).toMatchObject({ id: 'r1', count: 1204 })
    expect(notes).toEqual([])
  })

  it('shows its progress with --wait until it has ended', async () => {
    const { notes, document, exitCode, calls } = await run('replay', {
      operand: 'w',
      switches: ['wait'],
      progress: [
        { replayed: 500 },
        { replayed: 500 },
        { replayed: 1000, state: 'paused' },
        { replayed: 1204, state: 'completed', left_out: [{ webhook_id: 'x', reason: 'deleted' }] },
      ],
    })
    expect(notes).toEqual([
      'replay r1: 1204 deliveries',
      '500 of 1204 repeated',
      '1000 of 1204 repeated, paused',
      '1204 of 1204 repeated',
      'webhook x was deleted: not all of its deliveries were repeated',
    ])
    expect([exitCode, document.state, calls.at(-1)]).toEqual([
      0,
      'completed',
      ['readReplay', { replayId: 'r1' }],
    ])
  })

  it('fails with --wait when somebody cancels it', async () => {
    const { document, exitCode, calls } = await run('replay', {
      switches: ['wait', 'all', 'yes'],
      progress: [{ state: 'cancelled' }],
    })
    expect([exitCode, document.state]).toEqual([1, 'cancelled'])
    expect(calls.at(-1)).toEqual(['readAnyReplay', { replayId: 'r1' }])
  })

  it('says that it goes on when the wait is interrupted', async () => {
    const given: Given = { switches: ['wait', 'all', 'yes'], progress: [{}, {}], interruptAt: 1 }
    const { notes, document } = await run('replay', given)
    expect(notes.at(-1)).toBe("it goes on: 'hookswitch replays cancel r1 --all' ends it")
    expect(document.state).toBe('running')
  })
})

describe('replays', () => {
  it.each<[string, readonly string[], unknown[]]>([
    ['replays show', [], ['readReplay', { replayId: 'r1' }]],
    ['replays show', ['all'], ['readAnyReplay', { replayId: 'r1' }]],
    ['replays pause', [], ['setReplay', { replayId: 'r1', data: { state: 'paused' } }]],
    ['replays resume', ['all'], ['setAnyReplay', { replayId: 'r1', data: { state: 'running' } }]],
    ['replays cancel', [], ['setReplay', { replayId: 'r1', data: { state: 'cancelled' } }]],
  ])('%s %j', async (words, switches, expected) => {
    const { calls, document } = await run(words, { operand: 'r1', switches })
    expect(calls).toEqual([expected])
    expect(document.id).toBe('r1')
  })
})
