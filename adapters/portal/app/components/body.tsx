/** A body of receivers and callers: text nodes only, with hidden characters shown. */
import { textParts } from 'hookswitch/adapter'
import { indentJson, type TokenKind } from '../text/json-tokens.js'

/** Several lines, with escaped characters marked. */
function Block({ text }: { readonly text: string }) {
  return (
    <>
      {textParts(text).map(({ text: part, isEscaped }, index) =>
        isEscaped ? (
          <mark class="escaped" key={index}>
            {part}
          </mark>
        ) : (
          part
        ),
      )}
    </>
  )
}

/** Classes of tokens; punctuation and spaces have none. */
const CLASSES: Readonly<Partial<Record<TokenKind, string>>> = {
  key: 'k',
  string: 's',
  number: 'n',
  literal: 'n',
}

/** A body: JSON is indented, everything else is shown as it is. */
export function Body({ text, label }: { readonly text: string; readonly label: string }) {
  const tokens = indentJson(text)
  return (
    <pre class="code" tabIndex={0} role="region" aria-label={label}>
      <code>
        {tokens ? (
          tokens.map((token, index) => (
            <span class={CLASSES[token.kind]} key={index}>
              <Block text={token.text} />
            </span>
          ))
        ) : (
          <Block text={text} />
        )}
      </code>
    </pre>
  )
}
