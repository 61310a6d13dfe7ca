// @ts-check
/** Creates the accounts and webhooks of a store. */
import { accountName, WEBHOOKS } from './load.js'

/**
 * @param {import('hookswitch').Hookswitch} hs
 * @param {{ readonly port: number, readonly accounts: number }} options
 */
export async function setUp(hs, { port, accounts }) {
  for (let number = 0; number < accounts; number += 1) {
    const id = accountName(number)
    await hs.accounts.create({ id, name: id, realm: `${id}.example` })
    for (const name of WEBHOOKS) {
      const uri = `http://127.0.0.1:${port}/${id}/${name}`
      await hs.webhooks.create(id, { name, uri, hook: 'all', retries: 10 })
    }
  }
}
