import { postgresStore } from 'hookswitch/postgres'
import { expect, it, vi } from 'vitest'
import { systemClock } from '../../../src/runtime/clock.js'

vi.mock('pg', () => {
  throw new Error("Cannot find package 'pg'")
})

it('opening a store without the driver rejects with the package to install', async () => {
  const store = postgresStore({ connectionString: 'postgres://127.0.0.1/x' })
  const quiet = () => {}
  const log = { debug: quiet, info: quiet, warn: quiet, error: quiet }
  await expect(store.open({ clock: systemClock(), log })).rejects.toMatchObject({
    code: 'InvalidOption',
    message: expect.stringContaining('npm install pg'),
  })
  await store.close()
})
