import { execFile, spawnSync } from 'node:child_process'
import http from 'node:http'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { promisify } from 'node:util'
import { verify } from 'hookswitch'
import { describe, expect, it } from 'vitest'
import { ROOT } from '../../house/sources.js'
import { listen } from '../http/servers.js'

const SCRIPT = join(ROOT, 'adapters/portal/app/snippets/curl-and-openssl.sh')
const SECRET = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw'
const missing = ['curl', 'openssl', 'od'].filter(
  (command) => spawnSync('sh', ['-c', `command -v ${command}`]).status !== 0,
)
if (missing.length > 0)
  console.error(`SKIPPED: ${missing.join(', ')} not installed: the script was NOT tested`)

describe.skipIf(missing.length > 0)('the script that sends a signed event', () => {
  it('signs as the service does', async () => {
    const received: boolean[] = []
    const server = await listen(
      http.createServer(async (request, response) => {
        received.push(verify({ headers: request.headers, body: await text(request) }, SECRET).ok)
        response.writeHead(204).end()
      }),
    )
    try {
      const env = { ...process.env, SECRET, URL: `http://127.0.0.1:${server.port}/in` }
      const { stdout } = await promisify(execFile)('sh', [SCRIPT], { env })
      expect(stdout).toContain('204')
      expect(received).toEqual([true])
    } finally {
      await server.close()
    }
  })

  it('says what it needs', async () => {
    const failed = promisify(execFile)('sh', [SCRIPT], { env: { PATH: process.env.PATH } })
    await expect(failed).rejects.toThrow('the secret of the webhook')
  })
})
