import { spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { causeOf, hooksOf, recordedCalls } from '../adapters/telephony/recorded.js'
import { blocks } from './pages.js'

const START = fileURLToPath(new URL('../../examples/demo/start.js', import.meta.url))

/** One request to the receiver. */
interface Received {
  method: string
  url: string
  status: number
  headers: Record<string, string>
  body: string
}

function demo(...argv: string[]) {
  const child = spawn(process.execPath, [START, ...argv])
  const output = { stdout: '', stderr: '' }
  child.stdout.setEncoding('utf8').on('data', (text) => {
    output.stdout += text
  })
  child.stderr.setEncoding('utf8').on('data', (text) => {
    output.stderr += text
  })
  return { child, output, ended: once(child, 'close').then(([code]) => ({ code, ...output })) }
}

let folder: string
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'demo-'))
})
afterAll(() => rm(folder, { recursive: true }))

/** @param data name of the data file; a second run with the same file continues from there */
async function run(name: string, data: string) {
  const log = join(folder, name)
  const argv = ['--once', '--port', '0', '--data', join(folder, data), '--receiver-log', log]
  const ended = await demo(...argv).ended
  const lines = (await readFile(log, 'utf8')).trimEnd().split('\n')
  const received = lines.map((line): Received => JSON.parse(line))
  return { ...ended, received, taken: received.filter(({ status }) => status === 200) }
}

/** Groups the payloads that the receiver accepted by recorded call, in order of arrival. */
function byCall(taken: readonly Received[], path?: string) {
  const calls = new Map<string, Record<string, unknown>[]>()
  for (const { url, body } of taken) {
    if (path ? url !== path : url === '/records') continue
    const payload = JSON.parse(body)
    const callId = String(payload.call_id).replace(/~[0-9a-f]{6}-1$/, '')
    calls.set(callId, [...(calls.get(callId) ?? []), payload])
  }
  return calls
}

describe('the demo', () => {
  // The first three tests run at once: they mostly wait for retries, and each has its own service and its own files.
  it.concurrent('delivers each recorded call as the phones saw it, and again in a second run', async () => {
    const [first, second] = [await run('first.ndjson', 'calls.db'), await run('second.ndjson', 'calls.db')]
    for (const { code, stdout, stderr, received, taken } of [first, second]) {
      expect([code, stderr]).toEqual([0, ''])
      expect(stdout.trimEnd().split('\n').at(-1)).toBe(`${taken.length} delivered, 0 failed`)
      // The service ends within seconds, too soon to paste a command.
      expect(stdout).not.toContain('curl')
      const calls = byCall(taken)
      expect([...calls.keys()].sort()).toEqual(recordedCalls.map(({ callId }) => callId).sort())
      for (const call of recordedCalls) {
        const payloads = calls.get(call.callId) ?? []
        expect([call.callId, payloads.map((payload) => payload.hook_event)]).toEqual([
          call.callId,
          hooksOf(call),
        ])
        for (const payload of payloads) {
          expect(payload).toMatchObject({
            account_id: call.account.replace('.example', ''),
            call_direction: 'inbound',
            caller_id_name: call.fromDisplay,
            caller_id_number: call.from,
            callee_id_number: call.dialled,
            from: `${call.from}@${call.account}`,
            to: `${call.dialled}@${call.account}`,
          })
        }
        expect(payloads.map((payload) => payload.sequence)).toEqual(payloads.map((_, index) => index + 1))
        expect(payloads.at(-1)).toMatchObject({
          hangup_cause: causeOf(call),
          hangup_code: `sip:${call.code}`,
        })
      }

      // The reseller's webhook gets the end of every call of both customers, once.
      const records = byCall(taken, '/records')
      expect(records.size).toBe(recordedCalls.length)
      expect([...records.values()].flat().map((payload) => payload.hook_event)).toEqual(
        recordedCalls.map(() => 'channel_destroy'),
      )

      // Beta's receiver fails at first: the same delivery arrives again, with the same bytes.
      const refused = received.filter(({ status }) => status === 500)
      expect(refused.length).toBeGreaterThan(0)
      for (const { headers, body } of refused) {
        const again = taken.filter((other) => other.headers['webhook-id'] === headers['webhook-id'])
        expect(again.map((other) => [other.body, other.headers['x-hook-attempt']])).toEqual([[body, '2']])
      }
      expect(new Set(taken.map(({ headers }) => headers['webhook-id'])).size).toBe(taken.length)
    }
    const ids = (all: readonly Received[]) => new Set(all.map(({ body }) => JSON.parse(body).call_id))
    expect([...ids(first.taken)].filter((id) => ids(second.taken).has(id))).toEqual([])
  })

  it.concurrent('continues where it was killed: the next run delivers what was refused before', async () => {
    const log = join(folder, 'before.ndjson')
    const first = demo('--port', '0', '--data', join(folder, 'killed.db'), '--receiver-log', log)
    const isRefused = async () => (await readFile(log, 'utf8').catch(() => '')).includes('"status":500')
    await expect.poll(isRefused).toBe(true)
    first.child.kill('SIGKILL')
    await first.ended
    const before = (await readFile(log, 'utf8'))
      .split('\n')
      .slice(0, -1)
      .map((line): Received => JSON.parse(line))

    const { code, stderr, received, taken } = await run('after.ndjson', 'killed.db')
    expect([code, stderr]).toEqual([0, ''])
    const refused = before.filter(({ status }) => status === 500)
    expect(refused.length).toBeGreaterThan(0)
    const attempts = (all: readonly Received[], id: string | undefined) =>
      all
        .filter(({ headers }) => headers['webhook-id'] === id)
        .map(({ headers, status }) => ({ attempt: Number(headers['x-hook-attempt']), status }))
    for (const { headers } of refused) {
      // On a busy machine the kill comes late: the retry may have happened before it, or was interrupted by it.
      const earlier = attempts(before, headers['webhook-id'])
      const later = attempts(received, headers['webhook-id'])
      expect([...earlier, ...later].map(({ status }) => status)).toContain(200)
      for (const { attempt } of later)
        expect(attempt).toBeGreaterThan(Math.max(...earlier.map((attempt) => attempt.attempt)))
    }
    expect(new Set(taken.map(({ headers }) => headers['webhook-id'])).size).toBe(taken.length)
  })

  it.concurrent('prints the address of the page, a login, one line per call, and a summary on Ctrl-C', async () => {
    const { child, output, ended } = demo('--port', '0', '--speed', '4', '--data', join(folder, 'lines.db'))
    const lines = () => output.stdout.split('\n').filter((line) => /^(alpha|beta) /.test(line))
    const retried = () => lines().filter((line) => line.endsWith(', after retries (500)'))
    while (lines().length < 45 || retried().length === 0)
      await Promise.race([once(child.stdout, 'data'), ended])
    const [, url = ''] = /^The page for customers: (http:\S+)\/portal$/m.exec(output.stdout) ?? []
    const [, realm, username, password] =
      /^ {2}Company {4}(\S+)\n {2}User name {2}(\S+)\n {2}Password {3}(\S+)$/m.exec(output.stdout) ?? []
    const page = await (await fetch(url)).text()
    expect(page).toContain('<meta name="hookswitch-title"')
    const credentials = createHash('md5').update(`${username}:${password}`).digest('hex')
    const login = await fetch(`${url}/v1/user_auth`, {
      method: 'PUT',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ data: { credentials, account_realm: realm } }),
    })
    expect(login.status).toBe(201)
    for (const line of lines().slice(0, -1)) {
      expect(line).toMatch(/^(alpha|beta) +\d+ → \d+ +[a-z ]+ +\d+\.\d s {2}\d events? delivered/)
    }
    // Again after some calls, so that it stays on the screen.
    expect(output.stdout.split(`${url}/portal (${realm}, ${username}, ${password})`).length).toBeGreaterThan(
      2,
    )
    child.kill('SIGINT')
    const { code, stdout, stderr } = await ended
    expect([code, stderr]).toEqual([0, ''])
    expect(stdout.trimEnd().split('\n').at(-1)).toMatch(/^\d+ delivered, 0 failed$/)
  })

  it('has commands that work when they are pasted', async () => {
    const { child, output, ended } = demo(
      '--port',
      '0',
      '--speed',
      '0.05',
      '--data',
      join(folder, 'pasted.db'),
    )
    while (!output.stdout.includes('One line per call'))
      await Promise.race([once(child.stdout, 'data'), ended])
    const [, url = '', receiver = ''] =
      /^The API is at (\S+)\/v1, the receiver at (\S+);/m.exec(output.stdout) ?? []
    const [commands = ''] = blocks('examples/demo/README.md', 'sh')
    const script = commands.replace('http://127.0.0.1:8000', url).replace('http://127.0.0.1:8001', receiver)
    const shell = spawn('bash', ['-e', '-c', script])
    let answers = ''
    shell.stdout.setEncoding('utf8').on('data', (text) => {
      answers += text
    })
    expect((await once(shell, 'close'))[0]).toBe(0)
    const [test, ...attempts] = answers.trimEnd().split('\n')
    expect(JSON.parse(test ?? '')).toMatchObject({
      status: 'success',
      data: { delivery_id: expect.any(String) },
    })
    expect(JSON.parse(attempts.join('\n'))).toMatchObject({ status: 'success', data: expect.any(Array) })
    child.kill('SIGINT')
    expect((await ended).code).toBe(0)
  })

  it.each([
    [['--speed', '0'], /^--speed: .*\n$/],
    [['--speed', 'fast'], /^--speed: .*\n$/],
    [['--port', 'x'], /^--port: .*\n$/],
    [['--twice'], /^[^\n]*--twice[^\n]*, see 'npm start -- --help'\n$/],
    [['once'], /^[^\n]*once[^\n]*, see 'npm start -- --help'\n$/],
    [['--once', '--port', '0', '--receiver-log', '/nowhere/log'], /^--receiver-log: .*\n$/],
    [['--once', '--port', '0', '--data', '/nowhere/demo.db'], /^--data: .*\n$/],
    [['--once', '--port', '0', '--data', ''], /^--data: .*\n$/],
  ])('rejects %s with one sentence', async (argv, sentence) => {
    const { code, stdout, stderr } = await demo(...argv).ended
    expect([code, stdout]).toEqual([1, ''])
    expect(stderr).toMatch(sentence)
  })

  it('reports a port in use with one sentence', async () => {
    const blocker = createServer().listen(0, '127.0.0.1')
    await once(blocker, 'listening')
    const { port } = blocker.address() as { port: number }
    const { code, stderr } = await demo('--once', '--port', `${port}`, '--data', join(folder, 'port.db'))
      .ended
    blocker.close()
    expect([code, stderr]).toEqual([1, `--port: port ${port} of 127.0.0.1 is in use, choose another\n`])
  })
})
