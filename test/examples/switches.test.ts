import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'

const FOLDER = fileURLToPath(new URL('../../examples/switches', import.meta.url))

/** As a reader would start it. */
function run(argv: readonly string[]): Promise<{ code: unknown; stdout: string; stderr: string }> {
  const { VITEST: _, NODE_OPTIONS: __, NODE_TEST_CONTEXT: ___, HOOKSWITCH_SECRET: ____, ...env } = process.env
  return new Promise((resolve) => {
    const options = { cwd: FOLDER, env, timeout: 60_000, maxBuffer: 16_777_216 }
    execFile(process.execPath, [...argv], options, (error, stdout, stderr) =>
      resolve({ code: error ? (error.code ?? error.signal) : 0, stdout, stderr }),
    )
  })
}

/** What was recorded, and what of it has an account: FreeSWITCH's 88 legs, of which 8 never get one in this variable. */
const SAYS: Readonly<Record<string, RegExp>> = {
  freeswitch:
    /^290 events published, 290 webhooks received: 59 channel_answer, 58 channel_bridge, 80 channel_create, 80 channel_destroy, 7 channel_hold, 6 channel_unhold$/m,
  asterisk:
    /^314 events published, 314 webhooks received: 63 channel_answer, 65 channel_bridge, 87 channel_create, 87 channel_destroy, 6 channel_hold, 6 channel_unhold$/m,
  kamailio:
    /^272 events published, 272 webhooks received: 52 channel_answer, 52 channel_bridge, 77 channel_create, 77 channel_destroy, 7 channel_hold, 7 channel_unhold$/m,
}

describe('the programs for switches', () => {
  it.each(Object.entries(SAYS))('%s.js delivers what was recorded', async (name, sentence) => {
    const { code, stdout, stderr } = await run([`${name}.js`, '--speed', '100'])
    expect([code, stderr]).toEqual([0, ''])
    expect(stdout).toMatch(new RegExp(`^connected to ${name} 127\\.0\\.0\\.1:\\d+$`, 'm'))
    expect(stdout).toMatch(sentence)
    expect(stdout).toMatch(/^no leg is open$/m)
  })

  it('says what is wrong when the switch is not there, and ends with the signal', async () => {
    const program = `import('./kamailio.js'); setTimeout(() => process.kill(process.pid, 'SIGINT'), 1000)`
    const argv = ['--input-type=module', '-e', program, '--', '--host', '127.0.0.1', '--port', '1']
    const { code, stdout } = await run(argv)
    expect(code).toBe(0)
    expect(stdout).toMatch(/^not connected: connect ECONNREFUSED .*; again in \d+ ms$/m)
  })
})
