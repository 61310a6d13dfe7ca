import { HookswitchError } from 'hookswitch'
import { expect, it, vi } from 'vitest'
import { readSettings } from '../../../adapters/cli/read-settings.js'
import { createWebSockets } from '../../../adapters/cli/web-sockets.js'

const state = vi.hoisted(() => ({ thrown: undefined as unknown, options: undefined as unknown }))
vi.mock('hookswitch/blackhole', () => ({
  async blackhole(_hs: unknown, options: unknown) {
    state.options = options
    if (state.thrown) throw state.thrown
    return 'the service'
  },
}))

const log = { debug() {}, info() {}, warn() {}, error() {} }
const create = async (...argv: string[]) => createWebSockets({} as never, await readSettings(argv, {}), log)

it('passes the limits that are set, and the proxies of the API', async () => {
  expect(await create()).toBeUndefined()
  expect(await create('--blackhole-port', '5555', '--trust-proxy', '10.0.0.1')).toBe('the service')
  expect(state.options).toMatchObject({ maxSockets: 1_000, trustProxy: ['10.0.0.1'], log })
  await create('--blackhole-port', '5555', '--blackhole-max-sockets-per-address', '7')
  expect(state.options).toMatchObject({ maxSocketsPerAddress: 7, maxBindings: 200, trustProxy: [] })
})

it('names the setting where the package ws is missing, and no other error', async () => {
  state.thrown = new HookswitchError('InvalidOption', 'blackhole needs the package ws: npm install ws', {
    field: 'blackhole',
  })
  await expect(create('--blackhole-port', '5555')).rejects.toMatchObject({
    code: 'InvalidOption',
    message: '--blackhole-port: needs the package ws: npm install ws',
  })
  state.thrown = new Error('anything else')
  await expect(create('--blackhole-port', '5555')).rejects.toBe(state.thrown)
})
