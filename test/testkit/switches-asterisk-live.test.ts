import type { ChannelEvent } from 'hookswitch'
import { accountFromAccountCode, asteriskAmi, asteriskAri, type SwitchSource } from 'hookswitch/asterisk'
import { fakeAsteriskAmi, fakeAsteriskAri, until } from 'hookswitch/testkit'
import { describe, expect, it, onTestFinished } from 'vitest'
import { parseAmiRecording } from '../../src/testkit/switches/asterisk-ami-recording.js'
import { parseAriRecording } from '../../src/testkit/switches/asterisk-ari-recording.js'
import { recorded } from './switches-client.js'

const AMI = recorded('asterisk-ami.txt.gz')
const ARI = recorded('asterisk-ari.ndjson.gz')
const login = { username: 'hookswitch', secret: 'secret' }
const byRest = { username: 'hookswitch', password: 'secret' }
const accountOf = accountFromAccountCode()

/** Records what a source publishes and reports, until the test is over. */
function observe(make: (publish: (event: ChannelEvent) => Promise<void>) => SwitchSource) {
  const published: ChannelEvent[] = []
  const problems: string[] = []
  const source = make(async (event) => void published.push(event))
  source.events.on('problem', ({ message }) => void problems.push(message))
  onTestFinished(() => source.close({ drainMs: 0 }))
  source.start()
  return { source, published, problems }
}

/** The reason of the next disconnection. */
function nextDisconnection(source: SwitchSource): Promise<string> {
  return new Promise((resolve) => {
    source.events.on('disconnected', ({ reason }) => resolve(reason))
  })
}

/** What is found of a call in progress; the caller has just held it. */
function expectHeldCall(published: readonly ChannelEvent[], holderId: string) {
  const hooks = published.flatMap(({ hook, callId }) => (callId === holderId ? [hook] : []))
  expect(hooks).toEqual(['channel_create', 'channel_answer', 'channel_bridge', 'channel_hold'])
  for (const { customChannelVars } of published)
    expect(customChannelVars).toMatchObject({ found_by: 'resync' })
}

describe('a source finds the calls of a fake Asterisk', () => {
  it('over AMI, with their times, bridges and holds', async () => {
    const { events } = parseAmiRecording(AMI)
    const fake = fakeAsteriskAmi({ recording: AMI, ...login })
    onTestFinished(() => fake.close())
    const port = await fake.start()
    const at = events.findIndex(({ name }) => name === 'Hold')
    await fake.advance(at + 1)
    const { published } = observe((publish) => asteriskAmi({ publish, port, ...login, accountOf }))
    await until(() => published.some(({ hook }) => hook === 'channel_hold'))
    const holder = published.find(({ hook }) => hook === 'channel_hold')?.callId ?? ''
    expectHeldCall(published, holder)
    await fake.play({ speed: Infinity })
    await until(() => published.some(({ hook, callId }) => hook === 'channel_destroy' && callId === holder))
    const end = published.find(({ hook, callId }) => hook === 'channel_destroy' && callId === holder)
    const { durationSeconds = 0, ringingSeconds = 0, billingSeconds = 0 } = end ?? {}
    expect([ringingSeconds + billingSeconds, billingSeconds > 0]).toEqual([durationSeconds, true])
    expect(end?.customChannelVars).not.toHaveProperty('duration_is_estimate')
  })

  it('over ARI, with their times, bridges and holds', async () => {
    const events = parseAriRecording(ARI)
    const fake = fakeAsteriskAri({ recording: ARI, ...byRest })
    onTestFinished(() => fake.close())
    const url = `http://127.0.0.1:${await fake.start()}/ari`
    await fake.advance(events.findIndex(({ type }) => type === 'ChannelHold') + 1)
    const { published } = observe((publish) => asteriskAri({ publish, url, ...byRest, accountOf }))
    await until(() => published.some(({ hook }) => hook === 'channel_hold'))
    expectHeldCall(published, published.find(({ hook }) => hook === 'channel_hold')?.callId ?? '')
  })
})

describe('a fake Asterisk', () => {
  it('sends the events of an application to its newest client alone', async () => {
    const fake = fakeAsteriskAri({ recording: ARI, ...byRest })
    onTestFinished(() => fake.close())
    const url = `http://127.0.0.1:${await fake.start()}/ari`
    const connect = () =>
      observe((publish) => asteriskAri({ publish, url, ...byRest, accountOf, app: 'shared' })).source
    const first = connect()
    await until(() => first.status().isConnected)
    const evicted = nextDisconnection(first)
    connect()
    expect(await evicted).toMatch(/another client/)
  })

  it('sends all events to each of two sources, whose applications have names of their own', async () => {
    const fake = fakeAsteriskAri({ recording: ARI, ...byRest })
    onTestFinished(() => fake.close())
    const url = `http://127.0.0.1:${await fake.start()}/ari`
    const sources = [1, 2].map(() =>
      observe((publish) => asteriskAri({ publish, url, ...byRest, accountOf })),
    )
    await fake.waitFor('subscribed', 2)
    await until(() => sources.every(({ source }) => source.status().isConnected))
    await fake.play({ speed: Infinity })
    // The phones and three pairs of Local halves.
    const ends = (events: readonly ChannelEvent[]) =>
      events.filter(({ hook }) => hook === 'channel_destroy').length
    await until(() => sources.every(({ published }) => ends(published) === 87 + 6))
    expect(sources.every(({ source }) => source.status().isConnected)).toBe(true)
  })

  it.each([
    [{ read: 'cdr' }, /lacks 'call'/, 0],
    [{ read: 'call' }, /lacks 'dialplan'/, 1],
    [{ timestampevents: 'no' }, /timestampevents = yes/, 1],
  ])('with the settings %j has its problem reported at connect', async (settings, problem, events) => {
    const fake = fakeAsteriskAmi({ recording: AMI, ...login, settings })
    onTestFinished(() => fake.close())
    const port = await fake.start()
    const { source, published, problems } = observe((publish) =>
      asteriskAmi({ publish, port, ...login, accountOf }),
    )
    await until(() => source.status().isConnected)
    expect(problems).toEqual([expect.stringMatching(problem)])
    await fake.advance(20)
    if (events > 0) await until(() => published.length >= events)
    await source.close()
    expect(published.length > 0).toBe(events > 0)
    expect(problems).toHaveLength(1)
  })

  it('refuses the list of channels without the class reporting', async () => {
    const fake = fakeAsteriskAmi({ recording: AMI, ...login, settings: { write: 'originate' } })
    onTestFinished(() => fake.close())
    const port = await fake.start()
    const { source } = observe((publish) => asteriskAmi({ publish, port, ...login, accountOf }))
    await until(() => source.status().disconnectReason)
    expect(source.status().disconnectReason).toMatch(/Permission denied .*needs write = reporting/)
  })

  it('names a wrong setting', () => {
    for (const settings of [null, { read: 1 }, { displaysystemname: 'yes' }]) {
      expect(() => fakeAsteriskAmi({ recording: AMI, ...login, settings: settings as never })).toThrow(
        /^.*settings/,
      )
    }
  })
})
