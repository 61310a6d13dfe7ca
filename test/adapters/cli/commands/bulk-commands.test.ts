/** Commands over the webhooks of all accounts: with counts first, and refused before they change anything. */
import { describe, expect, it } from 'vitest'
import { scriptedApi, succeed } from '../../client/scripted-api.js'
import { runHere } from './harness.js'

const COUNTS = { webhooks: 7, accounts: 1, deliveries: 120 }
const JOB = {
  id: 'j1',
  action: 'resume',
  state: 'running',
  count: 7,
  changed: 0,
  created_at: '2030-01-15T12:00:00.000Z',
}

/** Runs a command with a service that counts and starts jobs. Returns the requests without login and logout. */
async function run(argv: readonly string[], looks: readonly object[] = []) {
  const left = [...looks]
  const api = await scriptedApi((response, { method, path, body }) => {
    const { dry_run: isDryRun } = body === '' ? {} : JSON.parse(body).data
    const { deliveries: count, ...counts } = COUNTS
    if (isDryRun) return succeed(response, path.endsWith('/replay') ? { count, ...counts } : COUNTS)
    if (path.includes('/endpoints')) return succeed(response, [])
    if (path.endsWith('/holds')) return succeed(response, { all: false, accounts: [], ...left.shift() })
    succeed(response, method === 'GET' ? { ...JOB, ...left.shift() } : JOB)
  })
  const result = await runHere(argv, { env: { HOOKSWITCH_URL: api.url, HOOKSWITCH_API_KEY: 'k' } })
  const requests = api.calls().slice(0, -1)
  return {
    ...result,
    requests: requests.map(({ method, path, body }) => [
      `${method} ${path.replace('/v1', '')}`,
      ...(body === '' ? [] : [JSON.parse(body).data]),
    ]),
  }
}

const dry = (data: object) => ['PUT /system/jobs', { ...data, dry_run: true }]

describe('a command over many webhooks', () => {
  it.each<[string, unknown[], string]>([
    [
      'webhooks resume --all',
      dry({ action: 'resume' }),
      '120 deliveries of 7 webhooks of 1 account would be resumed',
    ],
    [
      'webhooks reenable --account b --cause 410',
      dry({ action: 'reenable', account_id: 'b', cause: '410' }),
      '120 deliveries of 7 webhooks of 1 account would be enabled',
    ],
    [
      'webhooks hold --all',
      ['POST /system/holds', { held: true, dry_run: true }],
      '120 deliveries of 7 webhooks of 1 account would be held',
    ],
    [
      'replay --all --host a.example',
      ['PUT /system/replay', { host: 'a.example', dry_run: true }],
      '120 deliveries of 7 webhooks of 1 account would be sent again',
    ],
  ])('%s only counts, and asks for --yes', async (line, request, sentence) => {
    const { code, stdout, stderr, requests } = await run(line.split(' '))
    expect([code, stdout, requests]).toEqual([2, '', [request]])
    expect(stderr).toContain(`hookswitch: --yes: is required: `)
    expect(stderr).toContain(sentence)
  })

  it.each([
    [
      '--account b',
      { all: true },
      'the deliveries of all accounts are still held: webhooks release --all sends them',
    ],
    [
      '--all',
      { accounts: ['a', 'b'] },
      'accounts that are still held by themselves: 2; webhooks release --account sends theirs',
    ],
    ['--all', {}, undefined],
    ['--account b', { accounts: ['a'] }, undefined],
  ])('webhooks release %s says what it has not released: %j', async (flags, holds, sentence) => {
    const { code, stderr } = await run(['webhooks', 'release', ...flags.split(' ')], [holds])
    expect([code, stderr]).toEqual([0, sentence === undefined ? '' : `hookswitch: ${sentence}\n`])
  })

  it('prints the counts with --dry-run, and the job with --yes', async () => {
    const counted = await run(['webhooks', 'resume', '--all', '--dry-run', '--json'])
    expect([counted.code, JSON.parse(counted.stdout)]).toEqual([0, COUNTS])
    expect(counted.requests).toEqual([dry({ action: 'resume' })])
    const argv = [
      'webhooks',
      'resume',
      '--account',
      'b',
      '--host',
      'a.example',
      '--since',
      '2030-01-15T11:00Z',
    ]
    const started = await run([...argv, '--yes', '--json'])
    expect([started.code, JSON.parse(started.stdout)]).toEqual([0, JOB])
    expect(started.requests).toEqual([
      ['PUT /system/jobs', { action: 'resume', account_id: 'b', host: 'a.example', since: 64_061_924_400 }],
    ])
  })

  it('waits for the end of the job, which somebody may cancel', async () => {
    const looks = [{ changed: 7, state: 'completed' }]
    const done = await run(['webhooks', 'resume', '--all', '--yes', '--wait', '--json'], looks)
    expect([done.code, JSON.parse(done.stdout).state]).toEqual([0, 'completed'])
    expect(done.stderr).toBe('hookswitch: job j1: 7 webhooks\nhookswitch: 7 of 7 webhooks resumed\n')
    const single = { count: 1, changed: 1, state: 'completed' }
    const { stderr } = await run(['webhooks', 'resume', '--all', '--yes', '--wait'], [single])
    expect(stderr).toContain('1 of 1 webhook resumed')
    const cancelled = await run(['webhooks', 'resume', '--all', '--yes', '--wait'], [{ state: 'cancelled' }])
    expect(cancelled.code).toBe(1)
  })

  it.each<[string, RegExp]>([
    ['webhooks resume', /^--all: or --account is required without WEBHOOK, and not both$/],
    ['webhooks resume w --yes', /^--yes: cannot be combined with a webhook$/],
    [
      'webhooks resume --all --cause refusd',
      /^--cause: must be a status, as 503, or a cause \(did you mean 'refused'\?\)/,
    ],
    ['webhooks resume --all --cause zzz', /^--cause: must be a status, as 503, or one of .*refused/],
    ['webhooks resume --all --host https://a.example/', /^--host: must be a host/],
    ['webhooks resume --all --since tomorrow', /^--since: must be a time like/],
    ['webhooks resume --all --since 1h --until 2h', /^--since: must not be later than --until$/],
    ['webhooks resume --all --wait --dry-run', /^--wait: cannot be combined with --dry-run$/],
    ['webhooks reenable --all --descendants', /^--descendants: cannot be combined with a job$/],
    ['webhooks reenable --cause 410', /^--all: or --account is required, and not both$/],
    ['webhooks failing --cuase 410', /^--cuase: is unknown \(did you mean '--cause'\?\)/],
    ['webhooks failing --cause 4100', /^--cause: must be a status/],
    ['webhooks failing --host a/b', /^--host: must be a host/],
    ['jobs show', /^JOB: is missing/],
    ['jobs stop j', /^unknown command 'jobs stop'/],
  ])('%s is refused, names the flag and requests nothing', async (line, sentence) => {
    const { code, stdout, stderr, requests } = await run(line.split(' '))
    expect([code, stdout, requests]).toEqual([2, '', []])
    expect(stderr.slice('hookswitch: '.length, -1)).toMatch(sentence)
  })

  it.each<[string, unknown[]]>([
    [
      'webhooks failing --account b --cause refused --host a.example --health paused',
      [
        'GET /system/endpoints?sort=impact&state=paused&account_id=b&cause=refused&host=a.example&page_size=100',
      ],
    ],
    ['webhooks release --all', ['POST /system/holds', { held: false }]],
    ['webhooks reenable', ['PATCH /accounts/a/webhooks', { 're-enable': true }]],
    ['webhooks resume w', ['PUT /accounts/a/webhooks/w/resume']],
    ['jobs show j1', ['GET /system/jobs/j1']],
    ['jobs pause j1', ['POST /system/jobs/j1', { state: 'paused' }]],
    ['jobs resume j1', ['POST /system/jobs/j1', { state: 'running' }]],
    ['jobs cancel j1', ['POST /system/jobs/j1', { state: 'cancelled' }]],
  ])('%s is one request', async (line, expected) => {
    const { code, requests } = await run(line.split(' '))
    expect(code).toBe(0)
    const [[target, ...rest] = []] = requests as [string, ...unknown[]][]
    const [path, query = ''] = target!.split('?')
    const [wantedPath, wantedQuery = ''] = (expected[0] as string).split('?')
    expect([path, ...rest]).toEqual([wantedPath, ...expected.slice(1)])
    expect(query.split('&').sort()).toEqual(wantedQuery.split('&').sort())
  })
})
