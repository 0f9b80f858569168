subroutine pack(a, m)
  real(8) :: a(3), m(3)
  m = a
end
subroutine unpack(m, a)
  real(8) :: a(3), m(3)
  a = m
end
