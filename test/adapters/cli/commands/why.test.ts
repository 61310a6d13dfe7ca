import { describe, expect, it } from 'vitest'
import { API_KEY, CHILD_KEY, startService } from '../../client/service.js'
import { runHere } from './harness.js'

async function withEvents() {
  const { hs, url } = await startService({ operators: ['parent'] })
  const webhook = await hs.webhooks.create('child', {
    name: 'Hang\u202Eups',
    uri: 'http://127.0.0.1:9/',
    hook: 'channel_destroy',
    retries: 0,
  })
  const event = { accountId: 'child', callId: 'leg-1', callerIdNumber: '+49 30 1234' }
  const unwanted = await hs.publish(
    { ...event, hook: 'channel_create' },
    { source: 'asterisk 10.0.0.1:5038' },
  )
  const wanted = await hs.publish({ ...event, hook: 'channel_destroy' })
  const run = (key: string, ...argv: readonly string[]) =>
    runHere(['why', ...argv], { env: { HOOKSWITCH_URL: url, HOOKSWITCH_API_KEY: key } })
  return { run, webhook, unwanted: unwanted.eventId, wanted: wanted.eventId }
}

describe('why', () => {
  it('says in lines what was accepted, who got it and who did not', async () => {
    const { run, webhook, unwanted, wanted } = await withEvents()
    const { code, stdout, stderr } = await run(API_KEY, '0049 30 1234')
    expect([code, stderr]).toEqual([0, ''])
    const lines = stdout.split('\n')
    expect(lines[0]).toBe('call leg-1 of account child (Child)')
    expect(lines[1]).toMatch(/^ {2}\S+Z {2}channel_create {2}accepted from asterisk 10\.0\.0\.1:5038, event /)
    expect(lines[1]).toContain(unwanted)
    expect(lines[2]).toBe('    no webhook matched')
    // Nothing hidden in a name changes what the line looks like.
    expect(lines[3]).toBe(`    not to Hang\\u{202E}ups (${webhook.id}): It is for other kinds of events.`)
    expect(lines[4]).toContain(`channel_destroy  accepted from asterisk 10.0.0.1:5038, event ${wanted}`)
    expect(lines[5]).toMatch(new RegExp(`^    to Hang.*ups \\(${webhook.id}\\), delivery [0-9a-f]{32}: `))
    expect(lines.slice(6)).toEqual([''])
    const ofWebhook = (await run(API_KEY, webhook.id)).stdout
    expect(ofWebhook).toContain('of account child (Child), for channel_destroy, enabled')
    expect(ofWebhook).toContain(`event ${unwanted}, to no webhook: It is for other kinds of events.`)
  })

  it("searches the account of a key that is no operator's, or another one's", async () => {
    const { run } = await withEvents()
    expect((await run(CHILD_KEY, 'leg-1')).stdout).toContain('call leg-1 of account child (Child)')
    expect((await run(API_KEY, 'leg-1', '--account', 'child')).stdout).toContain('no webhook matched')
    const { code, stdout, stderr } = await run(API_KEY, 'leg-1', '--account', 'parent')
    expect([code, stdout]).toEqual([0, ''])
    expect(stderr).toMatch(/^hookswitch: nothing is stored of it: no such event was accepted lately/)
  })

  it('prints the whole answer as JSON, and refuses a wrong question', async () => {
    const { run, wanted } = await withEvents()
    const answer = JSON.parse((await run(API_KEY, wanted, '--json')).stdout)
    expect(answer.calls[0].events).toMatchObject([{ id: wanted, wanted: true, hook: 'channel_destroy' }])
    for (const [argv, sentence] of [
      [[], "hookswitch: WHAT: is missing, see 'hookswitch why --help'\n"],
      [['a', 'b'], "hookswitch: 'b': is one argument too many, see 'hookswitch why --help'\n"],
    ] as const)
      expect(await run(API_KEY, ...argv)).toMatchObject({ code: 2, stdout: '', stderr: sentence })
    const long = await run(API_KEY, 'x'.repeat(256))
    expect([long.code, long.stdout]).toEqual([2, ''])
    expect(long.stderr).toMatch(/400 validation error: q: /)
  })
})
