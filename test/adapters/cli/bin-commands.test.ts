import { once } from 'node:events'
import { describe, expect, it } from 'vitest'
import { deferred } from '../../support/deferred.js'
import { scriptedApi, succeed } from '../client/scripted-api.js'
import { API_KEY, startService } from '../client/service.js'
import { hookswitch } from './program.js'

describe('the commands of the built program', () => {
  it('use a service, and set the exit code', async () => {
    const { url } = await startService()
    const env = { HOOKSWITCH_URL: url, HOOKSWITCH_API_KEY: API_KEY }
    const webhook = ['--name', 'Calls', '--uri', 'http://127.0.0.1:9/', '--hook', 'all']
    const created = await hookswitch(['webhooks', 'create', ...webhook, '--json'], { env }).ended
    expect([created.code, created.stderr]).toEqual([0, ''])
    const { id } = JSON.parse(created.stdout)
    const listed = await hookswitch(['webhooks', 'list'], { env }).ended
    expect(listed.stdout).toBe(
      `ID\tNAME\tHOOK\tURI\tENABLED\tHEALTH\n${id}\tCalls\tall\thttp://127.0.0.1:9/\ttrue\tok\n`,
    )
    expect((await hookswitch(['webhooks', 'get', 'nope'], { env }).ended).code).toBe(4)
    expect(
      (await hookswitch(['webhooks', 'list'], { env: { ...env, HOOKSWITCH_API_KEY: 'wrong' } }).ended).code,
    ).toBe(3)
  })

  /** A service with two attempts, that makes one more whenever the stream is read. */
  async function growing() {
    const attempt = (id: string) => ({ id, result: 'success' })
    let made = 2
    const api = await scriptedApi((response, { path, method }) => {
      if (method === 'DELETE') return succeed(response, {})
      if (!path.includes('/stream')) return succeed(response, [attempt('a1'), attempt('a0')])
      response.writeHead(200, { 'content-type': 'text/event-stream' }).write('retry: 1\n\n')
      const send = () => {
        const document = JSON.stringify(attempt(`a${made++}`))
        response.write(`id: ${made}\nevent: attempt\ndata: ${document}\n\n`)
      }
      // The attempt that was made while the list was read is in both.
      response.write(`id: 1\nevent: attempt\ndata: ${JSON.stringify(attempt('a1'))}\n\n`)
      const timer = setInterval(send, 20)
      response.on('close', () => clearInterval(timer))
    })
    const env = { HOOKSWITCH_URL: api.url, HOOKSWITCH_API_KEY: 'k' }
    return { api, program: hookswitch(['attempts', 'tail', '--json'], { env }) }
  }
  const ids = (text: string) =>
    text
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => JSON.parse(line).id)

  it.each(['SIGINT', 'SIGTERM'] as const)(
    'attempts tail ends with 0 on %s and revokes its token',
    async (signal) => {
      const { api, program } = await growing()
      await expect.poll(() => ids(program.output.stdout).length).toBeGreaterThanOrEqual(4)
      program.child.kill(signal)
      const { code, stdout, stderr } = await program.ended
      expect([code, stderr]).toEqual([0, ''])
      expect(ids(stdout)).toEqual(ids(stdout).map((_, index) => `a${index}`))
      expect(api.calls().at(-1)).toMatchObject({ method: 'DELETE', path: '/v1/token_auth' })
    },
  )

  it('a command that is interrupted has not succeeded', async () => {
    const { promise: arrival, resolve: arrived } = deferred()
    const api = await scriptedApi((response, { method }) =>
      method === 'DELETE' ? succeed(response, {}) : arrived(),
    )
    const env = { HOOKSWITCH_URL: api.url, HOOKSWITCH_API_KEY: 'k' }
    const program = hookswitch(['webhooks', 'list'], { env })
    await arrival
    program.child.kill('SIGINT')
    expect(await program.ended).toEqual({ code: 130, signal: null, stdout: '', stderr: '' })
  })

  it('attempts tail ends when its reader is gone', async () => {
    const { program } = await growing()
    await once(program.child.stdout!, 'data')
    program.child.stdout!.destroy()
    expect((await program.ended).code).toBe(0)
  })
})
