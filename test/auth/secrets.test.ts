import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { authenticate } from '../../src/auth/authenticate.js'
import { signIn } from '../../src/auth/sign-in.js'
import { signOut } from '../../src/auth/sign-out.js'
import { md5Of, sha1Of } from '../accounts/account-harness.js'
import { createAuthHarness } from './auth-harness.js'

const bob = { credentials: md5Of('bob:pw'), realm: 'acme.test' }

describe('secrets', () => {
  it('reach neither stores nor errors: no token, key, password or password digest', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.constantFrom('password', 'rotate', 'user', 'key', 'wrong', 'ensure'), { maxLength: 12 }),
        async (actions) => {
          const harness = await createAuthHarness()
          const secrets = new Set<string>([harness.apiKey])
          const thrown: unknown[] = []
          let password = 'pw of bob'
          const setPassword = async (operation: () => Promise<unknown>) => {
            for (const text of [`bob:${password}`, `Bob:${password}`]) {
              secrets.add(md5Of(text)).add(sha1Of(text))
            }
            secrets.add(password)
            await operation()
          }
          await setPassword(() => harness.accounts.setPassword('acme', 'bob', password))
          let key = harness.apiKey
          for (const action of actions) {
            if (action === 'rotate') {
              key = await harness.accounts.rotateApiKey('acme')
              secrets.add(key)
            } else if (action === 'wrong') {
              await signIn(harness, { credentials: md5Of(`Bob:${password}`), realm: 'no.test' }).catch((e) =>
                thrown.push(e),
              )
              await signIn(harness, { apiKey: `${key.slice(1)}!` }).catch((e) => thrown.push(e))
              await harness.accounts
                .create({ name: 'B', realm: 'b.test', apiKey: key })
                .catch((e) => thrown.push(e))
              await harness.accounts
                .addUser('acme', { username: 'a:b', password, id: 'not an id' })
                .catch((e) => thrown.push(e))
            } else if (action === 'password' || action === 'ensure') {
              password += '!'
              await setPassword(() =>
                action === 'password'
                  ? harness.accounts.setPassword('acme', 'u1', password)
                  : harness.accounts.ensure([
                      {
                        id: 'acme',
                        name: 'Acme',
                        realm: 'acme.test',
                        apiKey: key,
                        users: [{ username: 'Bob', password }],
                      },
                    ]),
              )
            } else {
              const login =
                action === 'key' ? { apiKey: key } : { ...bob, credentials: md5Of(`bob:${password}`) }
              const { token } = await signIn(harness, login)
              secrets.add(token)
              await authenticate(harness, token)
              await signOut(harness, token)
              await authenticate(harness, token).catch((e) => thrown.push(e))
            }
          }
          const text = JSON.stringify([harness.calls, thrown, thrown.map(String)])
          for (const secret of secrets) expect(text).not.toContain(secret)
        },
      ),
      { numRuns: 60 },
    )
  })
})
