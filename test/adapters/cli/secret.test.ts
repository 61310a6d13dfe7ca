import { execFileSync } from 'node:child_process'
import { symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { errorCode, type HookswitchError } from 'hookswitch'
import { describe, expect, it } from 'vitest'
import { checkSecret } from '../../../adapters/cli/secret.js'
import type { StoreChoice } from '../../../adapters/cli/store-options.js'
import { testFolder } from './files.js'
import { settingsOf } from './settings-of.js'

const POSTGRES = {
  store: 'postgres',
  flag: '--postgres',
  connectionString: 'postgres://db/calls',
} satisfies StoreChoice
const SECRET = 'a secret of the environment'

const folder = testFolder()

async function errorOf(choice: StoreChoice, env: Record<string, string>): Promise<HookswitchError> {
  const thrown = await check(choice, env).then(
    () => undefined,
    (thrown) => thrown,
  )
  expect(errorCode(thrown)).toBe('InvalidOption')
  expect(thrown.message).toMatch(/^HOOKSWITCH_SECRET: [^\n]*$/)
  return thrown
}

const check = async (choice: StoreChoice, env: Record<string, string> = {}) =>
  checkSecret(await settingsOf({}, env), choice)

describe('checkSecret', () => {
  it('accepts a secret of the environment for every store', async () => {
    const file = { store: 'sqlite', path: join(folder.path, 'calls.db') } as const
    for (const choice of [POSTGRES, file, { store: 'memory' } as const]) {
      await check(choice, { HOOKSWITCH_SECRET: SECRET })
    }
  })

  it('accepts a missing secret for a file, which has a key file, and for the memory store', async () => {
    await check({ store: 'sqlite', path: join(folder.path, 'calls.db') })
    await check({ store: 'memory' })
  })

  it('requires a secret for PostgreSQL, and its error contains a command that generates one', async () => {
    const { message } = await errorOf(POSTGRES, {})
    const [, script = ''] = /; generate one with node -p "(.+)"$/.exec(message) ?? []
    expect(execFileSync(process.execPath, ['-p', script], { encoding: 'utf8' })).toMatch(/^[0-9a-f]{64}\n$/)
  })

  it('rejects a secret that differs from the key of the file, and quotes neither', async () => {
    const path = join(folder.path, 'calls.db')
    const key = 'f'.repeat(64)
    await writeFile(path, '')
    await writeFile(`${path}.key`, `${key}\n`)
    const link = join(folder.path, 'link.db')
    await symlink(path, link)
    for (const named of [path, link]) {
      const { message } = await errorOf({ store: 'sqlite', path: named }, { HOOKSWITCH_SECRET: SECRET })
      expect(message).toContain(`${path}.key`)
      expect(message).not.toContain(SECRET)
      expect(message).not.toContain(key)
      await check({ store: 'sqlite', path: named }, { HOOKSWITCH_SECRET: key })
      await check({ store: 'sqlite', path: named }, { HOOKSWITCH_SECRET: JSON.stringify([SECRET, key]) })
    }
  })

  it('rejects a key file that holds no key, and quotes nothing of it', async () => {
    const path = join(folder.path, 'calls.db')
    await writeFile(`${path}.key`, 'hunter2\n')
    await expect(check({ store: 'sqlite', path })).rejects.toThrow(
      `--data: ${path}.key is not a key (64 hex digits): put the right one there, or remove the file`,
    )
  })
})
