# Prints C text with each comment replaced by a blank; lines stay where they are, strings stay what they are.
BEGIN { token = "/\\*|//|\"([^\"\\\\]|\\\\.)*\"|'([^'\\\\]|\\\\.)*'" }
{
  rest = $0
  text = ""
  while (rest != "") {
    if (inside) {
      end = index(rest, "*/")
      if (end == 0) break
      rest = substr(rest, end + 2)
      inside = 0
    } else if (!match(rest, token)) {
      text = text rest
      break
    } else {
      found = substr(rest, RSTART, RLENGTH)
      text = text substr(rest, 1, RSTART - 1)
      rest = substr(rest, RSTART + RLENGTH)
      if (found == "//") break
      if (found == "/*") {
        inside = 1
        text = text " "
      } else text = text found
    }
  }
  print text
}
