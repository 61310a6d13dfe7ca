import { describe, expect, it } from 'vitest'
import { createOutput } from '../../../../adapters/cli/commands/output.js'

/** What is printed, as JSON or not. */
async function printed(isJson: boolean, document: object): Promise<string> {
  let all = ''
  const write = (text: string) => {
    all += text
    return true
  }
  const stdout = { write, isTTY: true, columns: 80 }
  const output = createOutput(stdout, { isJson, signal: new AbortController().signal })
  const columns = [{ title: 'NAME', value: 'name' }]
  await output.document(document)
  await output.items([document], columns)
  await output.item(document, columns)
  await output.text('a\u202eb', document)
  return all
}

describe('the output of a command', () => {
  const document = { name: 'exe\u202egnp\u009b\u{e0041}', 'a\u2066': ['\u200b'] }

  it.each([true, false])('shows hidden characters escaped (JSON: %s)', async (isJson) => {
    const text = await printed(isJson, document)
    expect(text).toContain(isJson ? 'exe\\u202egnp\\u009b\\udb40\\udc41' : 'exe\\u{202E}gnp\\u{9B}\\u{E0041}')
    expect(text.replaceAll('\n', '')).not.toMatch(/[\p{Cc}\p{Cf}]/u)
  })

  it('as JSON is the same document for programs', async () => {
    const lines = (await printed(true, document)).trimEnd().split('\n')
    expect(lines.map((line) => JSON.parse(line))).toEqual([document, document, document, document])
  })

  it('in a pipe has its head once, whole values and times as they are', async () => {
    let all = ''
    const stdout = { write: (text: string) => (all += text), columns: 20 }
    const output = createOutput(stdout, {
      isJson: false,
      signal: new AbortController().signal,
      now: Date.now,
    })
    const columns = [
      { title: 'URI', value: 'uri', isCutInMiddle: true },
      { title: 'AT', value: 'at', isTime: true },
    ] as const
    const at = '2030-01-15T12:00:00.000Z'
    await output.items([], columns)
    expect(all).toBe('')
    for (const path of ['a', 'b'])
      await output.items([{ uri: `https://crm.example.com/${path}`, at }], columns)
    await output.item({ uri: 'c', at }, columns)
    expect(all).toBe(
      `URI\tAT\nhttps://crm.example.com/a\t${at}\nhttps://crm.example.com/b\t${at}\nc\t${at}\n`,
    )
  })

  it('continues long sentences and values on a terminal on further lines, and in a pipe on none', async () => {
    const print = async (isTTY: boolean) => {
      let all = ''
      const stdout = { write: (text: string) => (all += text), columns: 40, isTTY }
      const output = createOutput(stdout, { isJson: false, signal: new AbortController().signal })
      await output.sentences([`  call ${'c'.repeat(20)} of account acme: it waits`, 'x'.repeat(60)], 8)
      await output.document({
        held: Array.from({ length: 5 }, (_, nth) => `account-${nth}`),
        id: 'i'.repeat(60),
      })
      return all.split('\n')
    }
    const list = ['"account-0"', '"account-1"', '"account-2"', '"account-3"', '"account-4"']
    expect(await print(true)).toEqual([
      `  call ${'c'.repeat(20)} of account`,
      '        acme: it waits',
      'x'.repeat(60),
      `held  [${list.slice(0, 2).join(',')},`,
      `      ${list.slice(2, 4).join(',')},`,
      `      ${list[4]}]`,
      `id    ${'i'.repeat(60)}`,
      '',
    ])
    expect(await print(false)).toEqual([
      `  call ${'c'.repeat(20)} of account acme: it waits`,
      'x'.repeat(60),
      `held\t[${list.join(',')}]`,
      `id\t${'i'.repeat(60)}`,
      '',
    ])
  })
})
