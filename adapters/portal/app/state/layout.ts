/** Whether the window is as narrow as that of a phone, where the rows of tables are cards. */
import { signal } from '@preact/signals'

const query = matchMedia('(max-width: 720px)')

export const isNarrow = signal(query.matches)

query.addEventListener('change', ({ matches }) => {
  isNarrow.value = matches
})
