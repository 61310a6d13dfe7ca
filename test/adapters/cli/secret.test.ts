import { execFileSync } from 'node:child_process'
import { mkdtemp, realpath, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { errorCode, type HookswitchError } from 'hookswitch'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { secretFor } from '../../../adapters/cli/secret.js'
import type { StoreChoice } from '../../../adapters/cli/store-options.js'

const POSTGRES = {
  store: 'postgres',
  flag: '--postgres',
  connectionString: 'postgres://db/calls',
} satisfies StoreChoice
const SECRET = 'a secret of the environment'

let folder: string
beforeEach(async () => {
  folder = await realpath(await mkdtemp(join(tmpdir(), 'secret-')))
})
afterEach(() => rm(folder, { recursive: true }))

async function errorOf(choice: StoreChoice, env: Record<string, string>): Promise<HookswitchError> {
  const thrown = await secretFor(choice, env).then(
    () => undefined,
    (thrown) => thrown,
  )
  expect(errorCode(thrown)).toBe('InvalidOption')
  expect(thrown.message).toMatch(/^HOOKSWITCH_SECRET: [^\n]*$/)
  return thrown
}

describe('secretFor', () => {
  it('returns the secret of the environment for every store', async () => {
    const file = { store: 'sqlite', path: join(folder, 'calls.db') } as const
    for (const choice of [POSTGRES, file, { store: 'memory' } as const]) {
      expect(await secretFor(choice, { HOOKSWITCH_SECRET: SECRET })).toEqual([SECRET])
    }
  })

  it('returns a second secret behind the first', async () => {
    const env = { HOOKSWITCH_SECRET: SECRET, HOOKSWITCH_OTHER_SECRET: 'the secret before that' }
    expect(await secretFor(POSTGRES, env)).toEqual([SECRET, 'the secret before that'])
  })

  it('rejects a second secret that is short or alone, and does not quote it', async () => {
    for (const env of [
      { HOOKSWITCH_SECRET: SECRET, HOOKSWITCH_OTHER_SECRET: 'fifteen letters' },
      { HOOKSWITCH_OTHER_SECRET: SECRET },
    ]) {
      const error = await secretFor({ store: 'memory' }, env).catch((thrown) => thrown)
      expect(error.message).toMatch(/^HOOKSWITCH_OTHER_SECRET: [^\n]*$/)
      expect(error.message).not.toMatch(/fifteen letters|a secret of/)
    }
  })

  it('accepts a missing secret for a file, which has a key file, and for the memory store', async () => {
    expect(await secretFor({ store: 'sqlite', path: join(folder, 'calls.db') }, {})).toBeUndefined()
    expect(await secretFor({ store: 'memory' }, {})).toBeUndefined()
  })

  it('requires a secret for PostgreSQL, and its error contains a command that generates one', async () => {
    const { message } = await errorOf(POSTGRES, {})
    const [, script = ''] = /; generate one with node -p "(.+)"$/.exec(message) ?? []
    expect(execFileSync(process.execPath, ['-p', script], { encoding: 'utf8' })).toMatch(/^[0-9a-f]{64}\n$/)
  })

  it('rejects a secret that differs from the key of the file, and quotes neither', async () => {
    const path = join(folder, 'calls.db')
    const key = 'f'.repeat(64)
    await writeFile(path, '')
    await writeFile(`${path}.key`, `${key}\n`)
    const link = join(folder, 'link.db')
    await symlink(path, link)
    for (const named of [path, link]) {
      const { message } = await errorOf({ store: 'sqlite', path: named }, { HOOKSWITCH_SECRET: SECRET })
      expect(message).toContain(`${path}.key`)
      expect(message).not.toContain(SECRET)
      expect(message).not.toContain(key)
      expect(await secretFor({ store: 'sqlite', path: named }, { HOOKSWITCH_SECRET: key })).toEqual([key])
    }
  })
})
