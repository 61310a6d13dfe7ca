import { spawnSync } from 'node:child_process'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { verify } from 'hookswitch'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { sign } from '../../src/delivery/signature.js'
import { blocks, read } from './pages.js'
import { HANGS_AFTER_MS, run } from './project.js'

const PAGE = 'docs/receivers/verify.md'

/** The known vector of Standard Webhooks 1.0.0. */
const KNOWN = {
  secret: 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw',
  id: 'msg_p5jXN8AQM9LWM0D4loKWxJek',
  timestamp: '1614265330',
  signatures: 'v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=',
  body: '{"test": 2432232314}',
  now: 1_614_265_330,
}
type Vector = typeof KNOWN

const keyOf = (secret: string) => Buffer.from(secret.slice('whsec_'.length), 'base64')
const other = `whsec_${Buffer.alloc(32, 7).toString('base64')}`
const text = '{"from":"Zoë ☎ <+12025550123>"}'
const signed = (secret: string, body: string) => sign([keyOf(secret)], KNOWN.id, KNOWN.now, body)

/** Requests with the answer that every function must give. */
const VECTORS: readonly (readonly [name: string, genuine: boolean, changes: Partial<Vector>])[] = [
  ['the known vector', true, {}],
  ['a body beyond ASCII', true, { body: text, signatures: signed(KNOWN.secret, text) }],
  ['an empty body', true, { body: '', signatures: signed(KNOWN.secret, '') }],
  ['the newer of two signatures', true, { signatures: `${KNOWN.signatures} ${signed(other, KNOWN.body)}` }],
  ['the older of two signatures', true, { signatures: `${signed(other, KNOWN.body)} ${KNOWN.signatures}` }],
  ['a timestamp 5 minutes old', true, { now: KNOWN.now + 300 }],
  ['a timestamp 5 minutes ahead', true, { now: KNOWN.now - 300 }],
  ['an older timestamp', false, { now: KNOWN.now + 301 }],
  ['a timestamp further ahead', false, { now: KNOWN.now - 301 }],
  ['another body', false, { body: '{"test": 2432232315}' }],
  ['another id', false, { id: 'msg_p5jXN8AQM9LWM0D4loKWxJel' }],
  ['another timestamp', false, { timestamp: '1614265331' }],
  ['another secret', false, { secret: other }],
  ['a signature of another version', false, { signatures: KNOWN.signatures.replace('v1,', 'v2,') }],
  ['half a signature', false, { signatures: KNOWN.signatures.slice(0, 20) }],
  ['no signature', false, { signatures: '' }],
  ['no id', false, { id: '' }],
  ['no timestamp', false, { timestamp: '' }],
  ['a timestamp that is not a number', false, { timestamp: '1614265330x' }],
  ['a timestamp with a line feed', false, { timestamp: '1614265330\n' }],
  [
    'a secret that is too short to be one',
    false,
    { secret: 'whsec_', signatures: sign([Buffer.alloc(0)], KNOWN.id, KNOWN.now, KNOWN.body) },
  ],
]

/** All vectors as arguments: six for each, the body in base64. */
const ARGUMENTS = VECTORS.flatMap(([, , changes]) => {
  const { secret, id, timestamp, signatures, body, now } = { ...KNOWN, ...changes }
  return [secret, id, timestamp, signatures, Buffer.from(body).toString('base64'), String(now)]
})
const EXPECTED = VECTORS.map(([name, genuine]) => `${name}: ${genuine}`)

interface Language {
  /** The language of the block on the page. */
  readonly tag: string
  /** Commands that it needs. */
  readonly needs: readonly string[]
  /** The file of the block. */
  readonly file: string
  /** Other files, by name: the program that calls the function for each vector and prints true or false per line. */
  readonly files: Readonly<Record<string, string>>
  /** Commands to run, the last one with the arguments. */
  readonly commands: readonly (readonly string[])[]
}

const LANGUAGES: readonly Language[] = [
  {
    tag: 'js',
    needs: [],
    file: 'verify.mjs',
    files: {
      'main.mjs': `import { verifyWebhook } from './verify.mjs'
const given = process.argv.slice(2)
for (let at = 0; at < given.length; at += 6) {
  const [secret, id, timestamp, signatures, body, now] = given.slice(at, at + 6)
  console.log(verifyWebhook(secret, id, timestamp, signatures, Buffer.from(body, 'base64'), Number(now)))
}
`,
    },
    commands: [[process.execPath, 'main.mjs']],
  },
  {
    tag: 'python',
    needs: ['python3'],
    file: 'verify.py',
    files: {
      'main.py': `import base64, sys
from verify import verify_webhook
given = sys.argv[1:]
for at in range(0, len(given), 6):
    secret, id, timestamp, signatures, body, now = given[at:at + 6]
    print(str(verify_webhook(secret, id, timestamp, signatures, base64.b64decode(body), int(now))).lower())
`,
    },
    commands: [['python3', 'main.py']],
  },
  {
    tag: 'php',
    needs: ['php'],
    file: 'verify.php',
    files: {
      'main.php': `<?php
require 'verify.php';
foreach (array_chunk(array_slice($argv, 1), 6) as [$secret, $id, $timestamp, $signatures, $body, $now]) {
    echo verify_webhook($secret, $id, $timestamp, $signatures, base64_decode($body), (int) $now) ? "true\\n" : "false\\n";
}
`,
    },
    commands: [['php', 'main.php']],
  },
  {
    tag: 'ruby',
    needs: ['ruby'],
    file: 'verify.rb',
    files: {
      'main.rb': `require_relative 'verify'
ARGV.each_slice(6) do |secret, id, timestamp, signatures, body, now|
  puts verify_webhook(secret, id, timestamp, signatures, body.unpack1('m0'), now.to_i)
end
`,
    },
    commands: [['ruby', 'main.rb']],
  },
  {
    tag: 'go',
    needs: ['go'],
    file: 'webhook/verify.go',
    files: {
      'go.mod': 'module receiver\n\ngo 1.18\n',
      'main.go': `package main

import (
	"encoding/base64"
	"fmt"
	"os"
	"strconv"

	"receiver/webhook"
)

func main() {
	given := os.Args[1:]
	for ; len(given) > 0; given = given[6:] {
		body, _ := base64.StdEncoding.DecodeString(given[4])
		now, _ := strconv.ParseInt(given[5], 10, 64)
		fmt.Println(webhook.Verify(given[0], given[1], given[2], given[3], body, now))
	}
}
`,
    },
    commands: [['go', 'build', '-o', 'main', '.'], ['./main']],
  },
  {
    tag: 'java',
    needs: ['javac', 'java'],
    file: 'WebhookVerifier.java',
    files: {
      'Main.java': `import java.util.Base64;

public final class Main {
    public static void main(String[] given) throws Exception {
        for (int at = 0; at < given.length; at += 6) {
            byte[] body = Base64.getDecoder().decode(given[at + 4]);
            long now = Long.parseLong(given[at + 5]);
            System.out.println(
                    WebhookVerifier.verify(given[at], given[at + 1], given[at + 2], given[at + 3], body, now));
        }
    }
}
`,
    },
    commands: [
      ['javac', '-J-XX:TieredStopAtLevel=1', 'Main.java', 'WebhookVerifier.java'],
      ['java', '-XX:TieredStopAtLevel=1', '-cp', '.', 'Main'],
    ],
  },
  {
    tag: 'csharp',
    needs: ['mcs', 'mono'],
    file: 'WebhookVerifier.cs',
    files: {
      'Main.cs': `using System;

public static class Program
{
    public static void Main(string[] given)
    {
        for (var at = 0; at < given.Length; at += 6)
        {
            var body = Convert.FromBase64String(given[at + 4]);
            var now = long.Parse(given[at + 5]);
            var isGenuine = WebhookVerifier.Verify(given[at], given[at + 1], given[at + 2], given[at + 3], body, now);
            Console.WriteLine(isGenuine ? "true" : "false");
        }
    }
}
`,
    },
    commands: [
      ['mcs', '-out:main.exe', 'Main.cs', 'WebhookVerifier.cs'],
      ['mono', 'main.exe'],
    ],
  },
]

const isOnPath = (command: string) => spawnSync('sh', ['-c', `command -v ${command}`]).status === 0

describe('the functions that verify a request', () => {
  let folder: string
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'receivers-'))
  })
  afterAll(() => rm(folder, { recursive: true }))

  it('are given in seven languages, each once', () => {
    for (const { tag } of LANGUAGES) expect([tag, blocks(PAGE, tag).length]).toEqual([tag, 1])
    expect(LANGUAGES).toHaveLength(7)
  })

  it.for(LANGUAGES)(
    'accept what is genuine and nothing else: $tag',
    { timeout: HANGS_AFTER_MS },
    async (language, { skip }) => {
      const { tag, needs, file, files, commands } = language
      const missing = needs.filter((command) => !isOnPath(command))
      if (missing.length > 0) {
        process.stderr.write(
          `\n*** ${missing.join(', ')} not installed: ${PAGE} was NOT tested for ${tag} ***\n`,
        )
        return skip()
      }
      const own = join(folder, tag)
      await writeAll(own, { ...files, [file]: blocks(PAGE, tag)[0]! })
      const env = { ...process.env, GOFLAGS: '-mod=mod', GOTOOLCHAIN: 'local' }
      let output = ''
      for (const [index, [command = '', ...argv]] of commands.entries()) {
        const given = index === commands.length - 1 ? ARGUMENTS : []
        const { code, stdout, stderr } = await run(command, [...argv, ...given], own, env, HANGS_AFTER_MS)
        expect([code, stderr]).toEqual([0, ''])
        output = stdout
      }
      const answers = output.trimEnd().split('\n')
      expect(VECTORS.map(([name], index) => `${name}: ${answers[index]}`)).toEqual(EXPECTED)
    },
  )

  it('agree with `verify` of this package', () => {
    for (const [name, genuine, changes] of VECTORS) {
      const { secret, id, timestamp, signatures, body, now } = { ...KNOWN, ...changes }
      const headers = { 'webhook-id': id, 'webhook-timestamp': timestamp, 'webhook-signature': signatures }
      expect([name, verify({ headers, body }, secret, { nowSeconds: now }).ok]).toEqual([name, genuine])
    }
  })

  it('come with the known vector', () => {
    const page = read(PAGE)
    const { secret, id, timestamp, signatures, body } = KNOWN
    for (const part of [secret, id, timestamp, signatures, body]) expect(page).toContain(`\`${part}\``)
  })
})

async function writeAll(folder: string, files: Readonly<Record<string, string>>): Promise<void> {
  for (const [name, text] of Object.entries(files)) {
    const path = join(folder, name)
    await mkdir(join(path, '..'), { recursive: true })
    await writeFile(path, text)
  }
}
