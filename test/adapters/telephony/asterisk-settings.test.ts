import { until } from 'hookswitch/testkit'
import { describe, expect, it } from 'vitest'
import { SETTINGS } from './asterisk-ami-server.js'
import { startAmiSource } from './asterisk-under-test.js'

const [READ, TIMESTAMPS] = Object.keys(SETTINGS) as [string, string]
const LATER_MS = 200

/** Connects to a switch with these settings. @returns the problems */
async function connectWith(over: Record<string, string>, options: Parameters<typeof startAmiSource>[0] = {}) {
  const started = await startAmiSource(options)
  started.server.responses.variables = { ...SETTINGS, ...over }
  await until(() => started.connects() === 1)
  const problems = () =>
    started.emitted.flatMap(([name, problem]) => (name === 'problem' ? [problem.message] : []))
  return { ...started, problems }
}

describe('the settings of manager.conf are checked at connect', () => {
  it.each([
    ['call,dialplan', 'yes'],
    ['all', 'true'],
    ['system, CALL , dialplan', '1'],
  ])('read = %s and timestampevents = %s are right', async (read, timestamps) => {
    const { problems } = await connectWith({ [READ]: read, [TIMESTAMPS]: timestamps })
    expect(problems()).toEqual([])
  })

  it('read = cdr is one problem, in one log line that names the setting, also after a reconnect', async () => {
    const { server, clock, source, connects, problems, logged } = await connectWith({ [READ]: 'cdr' })
    const message =
      "manager.conf: 'read' of [hookswitch] lacks 'call': no event of a call arrives (read = call,dialplan)"
    expect(problems()).toEqual([message])
    const { socket } = await server.connected(0)
    socket.destroy()
    await until(() => !source.status().isConnected)
    await clock.advance(LATER_MS)
    await until(() => connects() === 2)
    expect(problems()).toEqual([message])
    const lines = logged.filter((line) => line.includes('manager.conf'))
    expect(lines).toHaveLength(1)
    expect(lines[0]).toMatch(/^warn a setting of the switch is wrong /)
  })

  it('read = call without dialplan is a problem, but not if the source subscribes to calls alone', async () => {
    const { problems } = await connectWith({ [READ]: 'call' })
    expect(problems()).toEqual([expect.stringMatching(/'read' of \[hookswitch\] lacks 'dialplan'/)])
    const { problems: ofCalls } = await connectWith({ [READ]: 'call' }, { eventMask: 'call' })
    expect(ofCalls()).toEqual([])
  })

  it('a class that selected hooks need is a problem without it, and none that only the default needs', async () => {
    const { problems } = await connectWith({}, { optionalHooks: ['queue_join', 'channel_dtmf'] })
    expect(problems()).toEqual([
      "manager.conf: 'read' of [hookswitch] lacks 'agent', which optionalHooks needs",
      "manager.conf: 'read' of [hookswitch] lacks 'dtmf', which optionalHooks needs",
    ])
    const { problems: ofDefault } = await connectWith({})
    expect(ofDefault()).toEqual([])
  })

  it.each(['no', ''])("timestampevents = '%s' is a problem", async (value) => {
    const { problems } = await connectWith({ [TIMESTAMPS]: value })
    expect(problems()).toEqual([expect.stringMatching(/timestampevents = yes in \[general\]/)])
  })

  it('an Asterisk without the function is not judged', async () => {
    const { problems } = await connectWith({ [READ]: '', [TIMESTAMPS]: '' })
    expect(problems()).toEqual([])
  })

  it('a user whose name cannot be an argument of the function is not judged', async () => {
    const { server } = await startAmiSource({ username: 'a,b' })
    server.responses.login = ({ ActionID }) => `Response: Success\r\nActionID: ${ActionID}\r\n\r\n`
    const { actions } = await server.connected(0)
    expect(actions.map(({ Action }) => Action)).toEqual(['Login', 'BridgeList', 'CoreShowChannels'])
  })
})
