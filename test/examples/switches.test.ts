import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import { HANGS_AFTER_MS, readerEnvironment, run } from './project.js'

const FOLDER = fileURLToPath(new URL('../../examples/switches', import.meta.url))

/** What each program prints. Of FreeSWITCH's 88 recorded legs, 8 never get an account in this variable. */
const OUTPUT: Readonly<Record<string, RegExp>> = {
  freeswitch:
    /^307 events published, 307 webhooks received: 61 channel_answer, 58 channel_bridge, 82 channel_create, 82 channel_destroy, 7 channel_hold, 2 channel_transferee, 2 channel_transferor, 6 channel_unhold, 7 missed_call$/m,
  asterisk:
    /^342 events published, 342 webhooks received: 63 channel_answer, 65 channel_bridge, 87 channel_create, 87 channel_destroy, 6 channel_hold, 3 channel_transferee, 3 channel_transferor, 6 channel_unhold, 3 conference_join, 3 conference_leave, 9 missed_call, 2 parking, 1 queue_agent_answer, 1 queue_agent_complete, 1 queue_agent_offer, 1 queue_join, 1 queue_leave$/m,
  kamailio:
    /^272 events published, 272 webhooks received: 52 channel_answer, 52 channel_bridge, 77 channel_create, 77 channel_destroy, 7 channel_hold, 7 channel_unhold$/m,
}

describe('the examples for switches', { timeout: HANGS_AFTER_MS + 10_000 }, () => {
  it.each(Object.entries(OUTPUT))('%s.js delivers the recorded events', async (name, line) => {
    const argv = [`${name}.js`, '--speed', '100']
    const env = readerEnvironment()
    const { code, stdout, stderr } = await run(process.execPath, argv, FOLDER, env, HANGS_AFTER_MS)
    expect([code, stderr]).toEqual([0, ''])
    expect(stdout).toMatch(new RegExp(`^connected to ${name} 127\\.0\\.0\\.1:\\d+$`, 'm'))
    expect(stdout).toMatch(line)
    expect(stdout).toMatch(/^no leg is open$/m)
  })

  it('reports a switch that cannot be reached, and ends on SIGINT', async () => {
    const program = `
      const { log } = console
      console.log = (line) => {
        log(line)
        if (line.startsWith('not connected')) process.kill(process.pid, 'SIGINT')
      }
      import('./kamailio.js')`
    const argv = ['--input-type=module', '-e', program, '--', '--host', '127.0.0.1', '--port', '1']
    const { code, stdout } = await run(process.execPath, argv, FOLDER)
    expect(code).toBe(0)
    expect(stdout).toMatch(/^not connected: connect ECONNREFUSED .*; again in \d+ ms$/m)
  })
})
