/** A request as it goes over the line: method, headers and body, with JSON in colour. */
import type { RequestPreview } from 'hookswitch/client'
import { t } from '../state/translate.js'
import { indentJson } from '../text/json-tokens.js'
import { type RequestLine, requestLine } from '../text/request-line.js'

const CLASSES: Readonly<Record<string, string>> = { key: 'k', string: 's', number: 'n', literal: 'n' }

interface RequestTextProps {
  readonly request: Pick<RequestPreview, 'method' | 'uri' | 'headers' | 'body'>
  readonly label: string
}

export function RequestText({ request, label }: RequestTextProps) {
  const { body } = request
  const { method, target, headers } = requestLine(request)
  return (
    <pre class="code" tabIndex={0} role="region" aria-label={label}>
      <span class="k">{method}</span> {target} <span class="faint">HTTP/1.1</span>
      {headers.map(([name, value]) => (
        <Header key={name} name={name} value={value} />
      ))}
      {body !== undefined && body !== '' && (
        <>
          {'\n\n'}
          <Json text={body} />
        </>
      )}
    </pre>
  )
}

function Header({
  name,
  value,
}: {
  readonly name: string
  readonly value: RequestLine['headers'][number][1]
}) {
  return (
    <>
      {'\n'}
      <span class="k">{name}</span>: {value.startsWith('$') ? <Variable name={name} value={value} /> : value}
    </>
  )
}

/** What is different in each request; the service writes a variable in its place. */
function Variable({ name, value }: { readonly name: string; readonly value: string }) {
  if (name === 'webhook-signature') return <>v1,…</>
  const text = name === 'webhook-id' ? t('form.newId') : name === 'x-hook-id' ? t('form.ownId') : value
  return <span class="faint">{text}</span>
}

/** Text that is not JSON stays as it is. */
function Json({ text }: { readonly text: string }) {
  const tokens = indentJson(text)
  if (!tokens) return <>{text}</>
  return (
    <>
      {tokens.map(({ kind, text: part }, index) => (
        <span class={CLASSES[kind]} key={index}>
          {part}
        </span>
      ))}
    </>
  )
}
